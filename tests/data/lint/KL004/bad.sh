#!/bin/sh -eu
make CFLAGS=-march=skylake-avx512
