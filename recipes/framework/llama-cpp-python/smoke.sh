#!/bin/sh -eu
# llama-cpp-python is the version asked for, compiled for the target, no less and no more, and a model's output is right.
exec python3 smoke.py
