#!/bin/sh -eu
# Times tokens read by the image's language model. The last line of its output is the measurement, as JSON (docs/measure.md).
# Transformers would ask its hub for files that are all here.
export HF_HUB_OFFLINE=1
exec /bin/sh -eu ./python.sh generate.py
