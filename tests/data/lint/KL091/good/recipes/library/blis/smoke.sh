#!/bin/sh -eu
[ "$KILN_CPU_TARGET" = x86_64 ]
