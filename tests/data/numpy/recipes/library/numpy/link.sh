#!/bin/sh -eu
# Nothing to install: what NumPy needs beyond Python, its wheel has.
PYTHONPATH="$KILN_PREFIX" python3 -c 'import numpy; print(numpy.__version__)'
