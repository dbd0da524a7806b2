#!/bin/sh -eu
# Transformers is the version asked for, and a model's output is right. Nothing is fetched.
export HF_HUB_OFFLINE=1
exec python3 smoke.py
