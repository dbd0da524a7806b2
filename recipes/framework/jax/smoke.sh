#!/bin/sh -eu
# JAX is the version asked for, first on the image's PATH, and sees the CPU.
exec python3 smoke.py
