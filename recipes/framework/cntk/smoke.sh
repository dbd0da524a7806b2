#!/bin/sh -eu
# CNTK is the version asked for and computes rightly. The environment of its own image is switched on by a script for bash.
if [ "$KILN_METHOD" = hub ]; then exec bash -c '. /cntk/activate-cntk && exec python smoke.py'; fi
exec python2.7 smoke.py
