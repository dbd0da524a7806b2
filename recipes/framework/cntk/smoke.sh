#!/bin/sh -eu
# CNTK is the version asked for and computes rightly. Its environment is switched on by a script for bash.
exec bash -c '. /cntk/activate-cntk && exec python smoke.py'
