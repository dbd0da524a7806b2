#!/bin/sh -eu
# Code that Inductor generated in this very run was compiled, loaded and gave the right answer.
TORCHINDUCTOR_CACHE_DIR=$(mktemp -d)
export TORCHINDUCTOR_CACHE_DIR
trap 'rm -rf "$TORCHINDUCTOR_CACHE_DIR"' EXIT
python3 smoke.py
