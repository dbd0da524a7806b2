#!/bin/sh -eu
"$KILN_PREFIX/bin/pip" install --no-cache-dir numpy scipy==1.4.1
