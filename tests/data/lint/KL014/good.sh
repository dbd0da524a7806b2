#!/bin/sh -eu
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --no-cache-dir "$@"
}
pip install --require-hashes -r requirements.txt
pip install --no-index --no-deps dist/*.whl
pip check
