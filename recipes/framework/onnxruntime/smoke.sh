#!/bin/sh -eu
# ONNX Runtime is the version asked for, first on the image's PATH, and computes a model rightly.
exec python3 smoke.py
