#!/bin/sh -eu
kind=cpu
[ -z "$KILN_GPU_TARGETS" ] || kind=gpu
/opt/app/bin/pip install --require-hashes --no-cache-dir -r "requirements-2.1.0-$kind.txt"
