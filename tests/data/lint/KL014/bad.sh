#!/bin/sh -eu
"$KILN_PREFIX/bin/pip" install --no-cache-dir torch==2.6.0
