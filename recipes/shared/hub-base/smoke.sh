#!/bin/sh -eu
# The published image has a Python 3 that runs; the framework's own test proves the rest.
python3 -c 'import sys; print("Python", sys.version.split()[0])'
