#!/bin/sh -eu
# Measures the host by the image's PyTorch. The last line of its output is the measurement, as JSON (docs/measure.md).
[ "${KILN_FRAMEWORK_NAME:-}" = pytorch ] || { echo "bench.sh: the host's rates are measured in images with pytorch" >&2; exit 1; }
unset KILN_BENCH_RANKS
exec /bin/sh -eu ./python.sh host_rates.py
