#!/bin/sh -eu
# ExecuTorch lowered a model in this very run to XNNPACK, its runtime ran it, and the answer is right.
exec python3 smoke.py
