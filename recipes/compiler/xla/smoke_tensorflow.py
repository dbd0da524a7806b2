"""Proves that XLA compiles here: a cluster's module is dumped by this run, has a fusion, and equals NumPy."""
import os
import pathlib
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

modules = [path for path in pathlib.Path(sys.argv[1]).iterdir() if "after_optimizations" in path.name and path.suffix == ".txt"]
fusions = sum(path.read_text().count(" fusion(") for path in modules)
if fusions == 0:
    sys.exit("XLA compiled %d modules and fused nothing" % len(modules))
print("xla: %d modules with %d fusions, equal to NumPy" % (len(modules), fusions))
