#!/bin/sh -eu
# The same network as of mnist-cnn, by Keras inside TensorFlow. The last line of its output is the measurement, as JSON (docs/measure.md).
export KILN_BENCH_VARIANT=keras
exec /bin/sh -eu ./python.sh train.py mnist_cnn
