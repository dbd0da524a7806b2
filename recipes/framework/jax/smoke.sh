#!/bin/sh -eu
# JAX is the version asked for, first on the image's PATH, and computes.
exec python3 smoke.py
