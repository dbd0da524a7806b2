#!/bin/sh -eu
# PyTorch gives a traced graph to Glow, and the answer is right.
exec python3 smoke.py
