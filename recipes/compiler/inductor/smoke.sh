#!/bin/sh -eu
# Code that Inductor generated in this very run was compiled, loaded and gave the right answer; for a GPU, Triton makes machine code.
TORCHINDUCTOR_CACHE_DIR=$(mktemp -d)
TRITON_CACHE_DIR=$TORCHINDUCTOR_CACHE_DIR/triton
export TORCHINDUCTOR_CACHE_DIR TRITON_CACHE_DIR
trap 'rm -rf "$TORCHINDUCTOR_CACHE_DIR"' EXIT
python3 smoke.py
[ -z "$KILN_GPU_TARGETS" ] || python3 smoke_gpu.py
