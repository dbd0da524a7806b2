#!/bin/sh -eu
python3 -m venv "$KILN_PREFIX"
"$KILN_PREFIX/bin/pip" install --no-cache-dir --require-hashes -r requirements.txt
pip3 install --target /opt/kiln/x --no-cache-dir --require-hashes -r requirements.txt
