#!/bin/sh -eu
# $KILN_GPU_TARGETS is not read
echo "$KILN_VERSION ${KILN_NIGHTLY:-no} $KILN_JOBS" >"$KILN_PREFIX/version"
