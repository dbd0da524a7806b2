#!/bin/sh -eu
# Times answers of the network of mnist-cnn, in any framework. The last line of its output is the measurement, as JSON (docs/measure.md).
exec /bin/sh -eu ./python.sh infer.py mnist_cnn
