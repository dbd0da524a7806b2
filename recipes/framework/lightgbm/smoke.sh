#!/bin/sh -eu
# LightGBM is the version asked for and learns what it can learn.
exec python3 boosting_smoke.py
