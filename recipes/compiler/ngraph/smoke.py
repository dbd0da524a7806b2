"""Runs a graph with the nGraph bridge imported; the bridge's own summary of what it took is read by smoke.sh."""
from __future__ import print_function

import os
import sys

import numpy as np
import tensorflow as tf
import ngraph_bridge

# Several lines of text, of which this is one.
if "nGraph bridge version: " + os.environ["KILN_VERSION"] not in ngraph_bridge.__version__.splitlines():
    sys.exit("not %s, but %s" % (os.environ["KILN_VERSION"], ngraph_bridge.__version__))
ngraph_bridge.set_backend("CPU")
if not ngraph_bridge.is_enabled():
    sys.exit("the bridge is switched off")
rng = np.random.RandomState(0)
a, b = (rng.randn(64, 64).astype(np.float32) for _ in range(2))
x, y = (tf.compat.v1.placeholder(tf.float32, (64, 64)) for _ in range(2))
with tf.compat.v1.Session() as session:
    found = session.run(tf.reduce_sum(tf.nn.relu(tf.matmul(x, y)) + x * y, axis=1), {x: a, y: b})
np.testing.assert_allclose(found, np.sum(np.maximum(np.matmul(a, b), 0) + a * b, axis=1), rtol=1e-3, atol=1e-3)
print("nGraph bridge %s on the CPU backend, equal to NumPy" % os.environ["KILN_VERSION"])
