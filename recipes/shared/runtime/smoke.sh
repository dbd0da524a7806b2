#!/bin/sh -eu
# The component is active in the Python that the image's framework runs in; smoke.py says how that is seen.
exec python3 smoke.py
