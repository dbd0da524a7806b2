#!/bin/sh -eu
make CFLAGS="$KILN_CPU_FLAGS" MARCH="-march=$KILN_CPU_TARGET"
