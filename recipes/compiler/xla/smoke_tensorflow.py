"""Proves that XLA compiles here: a cluster's module is dumped by this run, has a fusion, and equals NumPy."""
from __future__ import print_function

import os
import sys

import numpy as np
import tensorflow as tf

if "--tf_xla_auto_jit=2" not in os.environ.get("TF_XLA_FLAGS", ""):
    sys.exit("TF_XLA_FLAGS does not switch XLA on")


@tf.function
def function(x, y):
    return tf.reduce_sum(tf.tanh(x) * y + tf.exp(-x * x), axis=1)


rng = np.random.RandomState(0)
x, y = (rng.randn(64, 256).astype(np.float32) for _ in range(2))
for _ in range(3):
    found = function(tf.constant(x), tf.constant(y)).numpy()
np.testing.assert_allclose(found, np.sum(np.tanh(x) * y + np.exp(-x * x), axis=1), rtol=1e-4, atol=1e-4)

# Each cluster that is taken out of the graph is compiled as one module.
clusters = [os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1]) if name.endswith("after_optimizations.txt")]
fusions = 0
for path in clusters:
    with open(path) as module:
        fusions += module.read().count(" fusion(")
if fusions == 0:
    sys.exit("XLA compiled %d clusters and fused nothing" % len(clusters))
proof = ""
if os.environ.get("KILN_GPU_TARGETS") and not tf.config.experimental.list_physical_devices("GPU"):
    proof = ", not run: there is no GPU here"
print("xla: clusters compiled: %d, with fusions: %d, equal to NumPy%s" % (len(clusters), fusions, proof))
