#!/bin/sh -eu
"$KILN_PREFIX/bin/pip" install --require-hashes --no-cache-dir -r requirements.txt
pip install --no-index dist/*.whl ./local "$WHEEL"
