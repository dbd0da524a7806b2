#!/bin/sh -eu
# The published image has CNTK's environment; the framework's own test proves the rest.
[ -r /cntk/activate-cntk ] || { echo "/cntk/activate-cntk is missing" >&2; exit 1; }
echo "CNTK's environment is at /cntk"
