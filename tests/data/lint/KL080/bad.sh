#!/bin/sh -eu
pip3 install --no-cache-dir --require-hashes -r requirements.txt
