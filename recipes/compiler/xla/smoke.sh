#!/bin/sh -eu
# XLA compiled, optimised and ran a function.
exec python3 smoke.py
