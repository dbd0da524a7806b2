#!/bin/sh -eu
# XGBoost is the version asked for, compiled by kiln if that was asked for, and learns what it can learn.
[ "$KILN_METHOD" != source ] || python3 smoke_build.py
exec python3 boosting_smoke.py
