#!/bin/sh -eu
# Times training steps in the image's framework. The last line of its output is the measurement, as JSON (docs/measure.md).
exec /bin/sh -eu ./python.sh train.py transformer_block
