#!/bin/sh -eu
# The published image has the ROCm asked for and a Python 3 that runs; the framework's own test proves the rest.
found=$(cat /opt/rocm/.info/version)
case $found in
  "$KILN_FACT_ROCM" | "$KILN_FACT_ROCM".*) ;;
  *) echo "ROCm is $found, not $KILN_FACT_ROCM" >&2; exit 1 ;;
esac
python3 -c 'import sys; print("Python", sys.version.split()[0])'
