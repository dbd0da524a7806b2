#!/bin/sh -eu
cd "$KILN_PREFIX"
cp -r "$KILN_PREFIX/lib" /opt
