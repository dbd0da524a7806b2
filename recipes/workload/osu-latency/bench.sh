#!/bin/sh -eu
# Measures the image's MPI between two processes. The last line of its output is the measurement, as JSON (docs/measure.md).
unset KILN_BENCH_RANKS
exec /bin/sh -eu ./python.sh mpi_pairs.py latency
