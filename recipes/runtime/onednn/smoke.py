"""A convolution by TensorFlow, checked against NumPy; smoke.sh reads what oneDNN reports of it."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
image, kernel = rng.standard_normal((4, 32, 32, 16), np.float32), rng.standard_normal((1, 1, 16, 32), np.float32)
convolved = tf.function(lambda x, k: tf.nn.conv2d(x, k, 1, "SAME"))(image, kernel).numpy()
np.testing.assert_allclose(convolved, image @ kernel[0, 0], rtol=1e-3, atol=1e-3)
print(f"proof: oneDNN computed a convolution of tensorflow {tf.__version__}", flush=True)
