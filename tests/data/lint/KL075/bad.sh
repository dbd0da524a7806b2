#!/bin/sh -eu
sudo ldconfig
