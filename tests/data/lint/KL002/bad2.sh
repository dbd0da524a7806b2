#!/bin/sh -eu
echo "export A=1" >> ~/.bashrc
