#!/bin/sh -eu
# A process that asks for libblas.so.3 gets one.
LD_PRELOAD=libblas.so.3 grep -q blas /proc/self/maps
echo 'libblas.so.3 is there'
