#!/bin/sh -eu
# Times rounds of gradient boosting by the image's framework. The last line of its output is the measurement, as JSON (docs/measure.md).
exec /bin/sh -eu ./python.sh boost.py
