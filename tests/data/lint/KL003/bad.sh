#!/bin/sh -eu
make CFLAGS="-O3 -march=native"
