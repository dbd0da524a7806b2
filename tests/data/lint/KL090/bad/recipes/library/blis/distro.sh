#!/bin/sh -eu
echo "$KILN_VERSION" >"$KILN_PREFIX/version"
