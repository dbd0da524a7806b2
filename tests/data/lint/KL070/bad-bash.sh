#!/bin/bash -e
cp $1 /opt
