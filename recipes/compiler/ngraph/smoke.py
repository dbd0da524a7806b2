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
    # Convolutions and their gradients are MKL-DNN's, which generates its code for the processor.
    image, kernel = rng.randn(4, 8, 8, 16).astype(np.float32), rng.randn(3, 3, 16, 16).astype(np.float32)
    pixels, weights = tf.compat.v1.placeholder(tf.float32, image.shape), tf.compat.v1.placeholder(tf.float32, kernel.shape)
    filtered = tf.nn.conv2d(pixels, weights, strides=[1, 1, 1, 1], padding="VALID")
    filtered, slope = session.run([filtered, tf.gradients(tf.reduce_sum(filtered), weights)[0]], {pixels: image, weights: kernel})
wanted = [[np.tensordot(image[0, i:i + 3, j:j + 3], kernel, 3) for j in range(6)] for i in range(6)]
np.testing.assert_allclose(filtered[0], wanted, rtol=1e-3, atol=1e-3)
wanted = [[np.sum(image[:, i:i + 6, j:j + 6], axis=(0, 1, 2)) for j in range(3)] for i in range(3)]
np.testing.assert_allclose(slope[..., 0], wanted, rtol=1e-3, atol=1e-3)
np.testing.assert_allclose(found, np.sum(np.maximum(np.matmul(a, b), 0) + a * b, axis=1), rtol=1e-3, atol=1e-3)
print("nGraph bridge %s on the CPU backend, equal to NumPy" % os.environ["KILN_VERSION"])
