"""The network in plain JAX, one training step compiled by XLA as a whole."""
import os

import jax
import jax.numpy as jnp
from jax import lax


def initial_weights(key):
    def uniform(key, shape, fan_in):
        bound = fan_in ** -0.5
        return jax.random.uniform(key, shape, minval=-bound, maxval=bound)

    shapes = {
        "convolution1": ((3, 3, 1, 32), 9),
        "convolution2": ((3, 3, 32, 64), 288),
        "dense1": ((9216, 128), 9216),
        "dense2": ((128, 10), 128),
    }
    weights = {}
    for name, (shape, fan_in) in shapes.items():
        key, kernel_key, bias_key = jax.random.split(key, 3)
        weights[name] = (uniform(kernel_key, shape, fan_in), uniform(bias_key, shape[-1:], fan_in))
    return weights


def loss_of(weights, images, labels):
    def convolve(x, layer):
        kernel, bias = weights[layer]
        return lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias

    def dense(x, layer):
        kernel, bias = weights[layer]
        return x @ kernel + bias

    x = jax.nn.relu(convolve(images, "convolution1"))
    x = jax.nn.relu(convolve(x, "convolution2"))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(dense(x.reshape(x.shape[0], -1), "dense1"))
    scores = jax.nn.log_softmax(dense(x, "dense2"))
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))


def train(weights, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels)
    return jax.tree.map(lambda weight, gradient: weight - 0.01 * gradient, weights, gradients), loss


class Training:
    version = jax.__version__
    compiled = True  # JAX has no other way to run on a CPU

    def __init__(self, batch, compilers):
        del compilers
        weights_key, images_key, labels_key = jax.random.split(jax.random.key(0), 3)
        self.weights = initial_weights(weights_key)
        self.parameters = sum(leaf.size for leaf in jax.tree.leaves(self.weights))
        self.images = jax.random.normal(images_key, (batch, 28, 28, 1))
        self.labels = jax.random.randint(labels_key, (batch,), 0, 10)
        self.threads = len(os.sched_getaffinity(0))  # XLA's thread pool has one for each
        self.executable = jax.jit(train).lower(self.weights, self.images, self.labels).compile()

    def step(self):
        self.weights, loss = self.executable(self.weights, self.images, self.labels)
        return float(loss)  # waits until it is computed

    def compiled_lately(self):
        return False  # compiled ahead of time, above

    def check_compiled(self):
        pass
