#!/bin/sh -eu
# Nothing to install: what the interpreter needs beyond the C library, its tests ask for.
"$KILN_PREFIX/bin/python3" --version
