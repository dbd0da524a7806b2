#!/bin/sh -eu
export CC=gcc
cd /src
make install
