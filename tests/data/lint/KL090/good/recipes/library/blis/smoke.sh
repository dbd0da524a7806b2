#!/bin/sh -eu
[ "$KILN_VERSION $KILN_NAME" = "1.1 blis" ]
[ -n "$KILN_CPU_TARGET$KILN_CPU_FAMILY" ] && [ -z "$KILN_GPU_TARGETS" ]
