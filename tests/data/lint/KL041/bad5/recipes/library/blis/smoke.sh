#!/bin/sh -eu
exec python3 smoke.py
