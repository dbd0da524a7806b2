"""A training step in JAX, compiled by XLA as a whole. Images are channels last."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from harness import Wrong
from layers import EPSILON, every_weight

CHANNELS_FIRST = False
VERSION = jax.__version__


def device():
    return "cpu" if jax.default_backend() == "cpu" else "gpu"


def convolution(layer, x, kernel, bias=None):
    sides = [(layer.padding, layer.padding)] * 2
    y = lax.conv_general_dilated(x, kernel, (layer.stride, layer.stride), sides, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y if bias is None else y + bias


def max_pool(layer, x):
    side = (layer.padding, layer.padding)
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, layer.size, layer.size, 1), (1, layer.stride, layer.stride, 1), ((0, 0), side, side, (0, 0)))


def norm(x, axes, scale, shift):
    centre = jnp.mean(x, axes, keepdims=True)
    spread = jnp.mean(jnp.square(x - centre), axes, keepdims=True)
    return (x - centre) * lax.rsqrt(spread + EPSILON) * scale + shift


def attention(layer, x, *weights):
    def by_heads(kernel, bias):
        return (x @ kernel + bias).reshape(x.shape[0], x.shape[1], layer.heads, -1)

    query, key, value = (by_heads(*weights[at : at + 2]) for at in (0, 2, 4))
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / query.shape[-1] ** 0.5
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value).reshape(x.shape)
    return mixed @ weights[6] + weights[7]


# The running mean and variance of batch norm, which inference alone needs, are not kept by the training; inference begins with 0 and 1.
FORWARD = {
    "convolution": convolution,
    "max_pool": max_pool,
    "attention": attention,
    "relu": lambda layer, x: jax.nn.relu(x),
    "flatten": lambda layer, x: x.reshape(x.shape[0], -1),
    "mean": lambda layer, x: jnp.mean(x, tuple(range(1, x.ndim - 1))),
    "dense": lambda layer, x, kernel, bias: x @ kernel + bias,
    "batch_norm": lambda layer, x, scale, shift: norm(x, (0, 1, 2), scale, shift),
    "layer_norm": lambda layer, x, scale, shift: norm(x, (-1,), scale, shift),
}


def forward(layers, weights, x, inference=False):
    """`weights`: an iterator over all of them, in the order of the layers."""
    for layer in layers:
        if layer.kind == "residual":
            main = forward(layer.main, weights, x, inference)
            x = main + forward(layer.shortcut, weights, x, inference)
        elif layer.kind == "batch_norm" and inference:
            x = x / (1 + EPSILON) ** 0.5 * next(weights) + next(weights)
        else:
            x = FORWARD[layer.kind](layer, x, *[next(weights) for _ in layer.weights])
    return x


def loss_of(plan, weights, examples, labels):
    scores = jax.nn.log_softmax(forward(plan, iter(weights), examples))
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))


def train(plan, rate, weights, examples, labels):
    loss, gradients = jax.value_and_grad(functools.partial(loss_of, plan))(weights, examples, labels)
    return [weight - rate * gradient for weight, gradient in zip(weights, gradients)], loss


class Compiled(object):
    """What training and inference have in common; `executable` is made in the first step."""

    variant = "jit"
    rank = 0
    executable = None

    def __init__(self, plan, settings):
        if settings.ranks > 1:
            raise Wrong("nothing over ranks with JAX")
        unknown = [name for name in settings.compilers if name != "xla"]
        if unknown:
            raise Wrong("%s compiles nothing of JAX" % " and ".join(unknown))
        self.weights = [jnp.asarray(array) for array in every_weight(plan)]
        self.parameters = sum(weight.size for weight in self.weights)

    def put(self, examples, labels):
        return jnp.asarray(examples), jnp.asarray(labels)

    def compiled(self):
        """JAX has no other way to compute; the module must be XLA's, optimised: with a fusion or a call of a library in it."""
        text = self.executable.as_text()
        if " fusion(" not in text and "custom-call(" not in text:
            raise Wrong("XLA's module has neither a fusion nor a call of a library")
        return "xla"


class Training(Compiled):
    def __init__(self, network, plan, batch, settings):
        del batch
        super().__init__(plan, settings)
        self.train = jax.jit(functools.partial(train, plan, network.RATE))

    def step(self, examples, labels):
        if self.executable is None:
            self.executable = self.train.lower(self.weights, examples, labels).compile()
        self.weights, loss = self.executable(self.weights, examples, labels)
        return float(loss)  # waits until it is computed


class Inference(Compiled):
    def __init__(self, network, plan, batch, settings):
        del network, batch
        super().__init__(plan, settings)
        self.scores = jax.jit(lambda weights, examples: forward(plan, iter(weights), examples, True))

    def step(self, examples, labels):
        del labels
        if self.executable is None:
            self.executable = self.scores.lower(self.weights, examples).compile()
        return np.asarray(self.executable(self.weights, examples))
