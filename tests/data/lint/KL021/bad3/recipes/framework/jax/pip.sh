#!/bin/sh -eu
/usr/bin/python3 -m venv /opt/app
/opt/app/bin/pip install --require-hashes --no-cache-dir -r "requirements-$KILN_VERSION.txt"
