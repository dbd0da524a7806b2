#!/bin/sh -eu
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --no-cache-dir --require-hashes "$@"
}
pip install -r requirements.txt
