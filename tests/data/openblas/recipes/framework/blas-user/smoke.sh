#!/bin/sh -eu
# A process that asks for libblas.so.3 gets one.
LD_PRELOAD=libblas.so.3 cat /proc/self/maps | grep -q blas
echo 'libblas.so.3 is there'
