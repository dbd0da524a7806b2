#!/bin/sh -eu
/opt/x/bin/pip install --require-hashes --no-cache-dir -r requirements.txt
