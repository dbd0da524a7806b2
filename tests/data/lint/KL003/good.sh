#!/bin/sh -eu
# never -march=native
make CFLAGS="-O3 $KILN_CPU_FLAGS"
sed -i "/-march=native/d" .tf_configure.bazelrc
