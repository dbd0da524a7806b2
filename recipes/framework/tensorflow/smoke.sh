#!/bin/sh -eu
# TensorFlow is the version asked for, computes rightly, and is built for what the target has.
exec python3 smoke.py
