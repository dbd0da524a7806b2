#!/bin/sh -eu
# Times training steps in the image's framework. The last line of its output is the measurement, as JSON.
#   KILN_FRAMEWORK_NAME   pytorch or jax
#   KILN_COMPILERS        the image's graph compilers, blanks between them; used when the framework can choose
#   KILN_BENCH_STEPS      timed steps, default 30
exec python3 bench.py
