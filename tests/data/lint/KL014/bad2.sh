#!/bin/sh -eu
"$KILN_PREFIX/bin/python3" -m pip install --no-cache-dir -r requirements.txt
