#!/bin/sh -eu
# CTranslate2 is the version asked for, and a language model's output is right.
exec python3 smoke.py
