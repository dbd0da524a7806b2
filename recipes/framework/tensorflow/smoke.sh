#!/bin/sh -eu
# TensorFlow is the version asked for, computes rightly, and is built for what the target has. An image with Python 2.7 has no other.
exec "$(command -v python3 || command -v python2.7)" smoke.py
