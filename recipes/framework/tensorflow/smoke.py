"""TensorFlow is the version asked for, has code for the target's GPUs, and a convolution, a matrix product and a gradient are right.

Where the test runs there may be no GPU: then the code is looked for and not run, and the last line says so.
"""
import os
import sys

import numpy as np
import tensorflow as tf

wanted = os.environ["KILN_VERSION"]
if tf.__version__ != wanted:
    sys.exit("tensorflow is %s, not %s" % (tf.__version__, wanted))
if os.environ["KILN_METHOD"] != "hub" and not tf.__file__.startswith("/opt/kiln/tensorflow/"):
    sys.exit("tensorflow was loaded from " + tf.__file__)
# An image for GPUs has CUDA inside; a CPU wheel there would do all its work slowly and say nothing.
if os.path.isdir("/usr/local/cuda") and not tf.test.is_built_with_cuda():
    sys.exit("the image has CUDA, but this tensorflow is built without it")



def covers(built, target):
    """Does sm_80 run on sm_86 (same generation, not newer), or is there PTX that the driver can compile?"""
    number = int(target[3:].rstrip("af"))
    for word in built:
        kind, _, text = word.partition("_")
        have = int(text.rstrip("af"))
        if have <= number and (kind == "compute" or have // 10 == number // 10):
            return True
    return False


proof = "CPU"
targets = os.environ.get("KILN_GPU_TARGETS", "").split()
if targets and targets[0].startswith("gfx") and not tf.test.is_built_with_rocm():
    sys.exit("the target has an AMD GPU, but this tensorflow is built without ROCm")
if targets and targets[0].startswith("sm_") and hasattr(tf.sysconfig, "get_build_info"):
    built = tf.sysconfig.get_build_info()["cuda_compute_capabilities"]
    missing = [target for target in targets if not covers(built, target)]
    if missing:
        sys.exit("no code for %s; this tensorflow has %s" % (missing, built))
if targets:
    found = tf.config.experimental.list_physical_devices("GPU")
    proof = "code for %s, %s" % (" ".join(targets), "run on a GPU" if found else "not run: there is no GPU here")

v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as session:
    rng = np.random.RandomState(0)
    image = tf.constant(rng.randn(1, 5, 5, 2).astype(np.float32))
    kernel = tf.constant(rng.randn(1, 1, 2, 3).astype(np.float32))
    convolved = tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="VALID")
    product = tf.reshape(tf.matmul(tf.reshape(image, [-1, 2]), tf.reshape(kernel, [2, 3])), [1, 5, 5, 3])
    gradient = tf.gradients(tf.reduce_sum(convolved), image)[0]
    found, same, slope, weights = session.run([convolved, product, gradient, kernel])
np.testing.assert_allclose(found, same, rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(slope[0, 0, 0], weights[0, 0].sum(axis=1), rtol=1e-4, atol=1e-5)
print("tensorflow %s, %s" % (tf.__version__, proof))
