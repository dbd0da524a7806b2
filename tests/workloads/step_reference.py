"""A training step in NumPy, written from the definitions, in double precision: what the networks' known losses are held against."""
import ctypes
import multiprocessing
import os

import numpy as np

from harness import processors

CHANNELS_FIRST = False
VERSION = "1.0"
EPSILON = 1e-5


def device():
    return "cpu"


def windows(x, layer, fill=0.0):
    """[batch, rows, columns, size, size, channels] of padded images: a view."""
    side = (layer.padding, layer.padding)
    x = np.pad(x, ((0, 0), side, side, (0, 0)), mode="constant", constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, (layer.size, layer.size), axis=(1, 2))
    return view[:, :: layer.stride, :: layer.stride].transpose(0, 1, 2, 4, 5, 3)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def norm(x, axes, scale, shift):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + EPSILON) * scale + shift


def attention(x, layer):
    w = layer.weights

    def by_heads(number):
        y = x @ w[number] + w[number + 1]
        return y.reshape(x.shape[0], x.shape[1], layer.heads, -1).transpose(0, 2, 1, 3)

    query, key, value = by_heads(0), by_heads(2), by_heads(4)
    mixed = softmax(query @ key.transpose(0, 1, 3, 2) / np.sqrt(query.shape[-1])) @ value
    return mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ w[6] + w[7]


def forward(layers, x, kept=None):
    """`kept` gets what `backward` needs of each layer."""
    for layer in layers:
        if kept is not None:
            kept.append(x)
        if layer.kind == "convolution":
            kernel = layer.weights[0]
            x = np.tensordot(windows(x, layer), kernel, axes=((3, 4, 5), (0, 1, 2))) + (layer.weights[1] if layer.bias else 0)
        elif layer.kind == "max_pool":
            x = windows(x, layer, -np.inf).max(axis=(3, 4))
        elif layer.kind == "relu":
            x = np.maximum(x, 0)
        elif layer.kind == "flatten":
            x = x.reshape(len(x), -1)
        elif layer.kind == "dense":
            x = x @ layer.weights[0] + layer.weights[1]
        elif layer.kind == "mean":
            x = x.mean(axis=tuple(range(1, x.ndim - 1)))
        elif layer.kind == "batch_norm":
            x = norm(x, (0, 1, 2), *layer.weights)
        elif layer.kind == "layer_norm":
            x = norm(x, (-1,), *layer.weights)
        elif layer.kind == "attention":
            x = attention(x, layer)
        else:
            x = forward(layer.main, x) + forward(layer.shortcut, x)
    return x


def backward(layers, kept, slope, rate):
    """Changes the weights against their gradients; of the layers of mnist-cnn and mlp, with strides of 1 and no padding."""
    for layer, x in zip(reversed(layers), reversed(kept)):
        gradients = []
        if layer.kind == "dense":
            gradients = [x.T @ slope, slope.sum(axis=0)]
            slope = slope @ layer.weights[0].T
        elif layer.kind == "relu":
            slope = slope * (x > 0)
        elif layer.kind == "flatten":
            slope = slope.reshape(x.shape)
        elif layer.kind == "max_pool":
            blocks = windows(x, layer)
            spread = np.zeros_like(x)
            first = (blocks == blocks.max(axis=(3, 4), keepdims=True)).reshape(blocks.shape[:3] + (-1, x.shape[3])).argmax(axis=3)
            n, row, column, channel = np.indices(first.shape)
            spread[n, row * layer.stride + first // layer.size, column * layer.stride + first % layer.size, channel] = slope
            slope = spread
        else:
            kernel = layer.weights[0]
            gradients = [np.tensordot(windows(x, layer), slope, axes=((0, 1, 2), (0, 1, 2))), slope.sum(axis=(0, 1, 2))]
            back = np.zeros_like(x)
            for row in range(layer.size):
                for column in range(layer.size):
                    back[:, row : row + slope.shape[1], column : column + slope.shape[2]] += slope @ kernel[row, column].T
            slope = back
        layer.weights = [weight - rate * gradient for weight, gradient in zip(layer.weights, gradients)]


def doubled(layers):
    """The plan's weights in double precision."""
    count = 0
    for layer in layers:
        if layer.kind == "residual":
            count += doubled(layer.main) + doubled(layer.shortcut)
        layer.weights = [weight.astype(np.float64) for weight in layer.weights]
        count += sum(weight.size for weight in layer.weights)
    return count


def cross_entropy(scores, labels):
    return -np.log(softmax(scores)[np.arange(len(labels)), labels]).mean()


if os.environ.get("KILN_TEST_OPENMP"):
    ctypes.CDLL(os.environ["KILN_TEST_OPENMP"])  # as a framework loads its own, which binds this process when it starts


def _allowed(end):
    end.send(processors())


def loader(training, batches, settings):
    """A process for each batch, which has the processors that a worker of a data loader has."""
    fork = multiprocessing.get_context("fork")
    for number in range(settings.steps + 1):
        here, there = fork.Pipe()
        worker = fork.Process(target=_allowed, args=(there,))
        worker.start()
        allowed = here.recv()
        worker.join()
        yield training.put(*batches[number % len(batches)]) + (allowed,)


class Training(object):
    """KILN_TEST_FAULT makes it a wrong one."""

    variant = "reference"
    rank = 0

    def __init__(self, network, plan, batch, settings):
        del batch, settings
        self.fault = os.environ.get("KILN_TEST_FAULT", "")
        self.plan, self.rate = plan, network.RATE * {"rises": -1, "too fast": 2}.get(self.fault, 1)
        if self.fault == "other network":
            plan[0].weights[0] = plan[0].weights[0] * 2
        self.parameters = doubled(plan) + (self.fault == "parameters")
        self.steps = 0

    def put(self, examples, labels):
        return examples.astype(np.float64), labels

    def step(self, examples, labels):
        self.steps += 1
        kept = []
        scores = forward(self.plan, examples, kept)
        slope = softmax(scores)
        slope[np.arange(len(labels)), labels] -= 1
        backward(self.plan, kept, slope / len(labels), self.rate)
        return float("nan") if self.fault == "nan" and self.steps == 3 else cross_entropy(scores, labels)

    def compiled(self):
        return False


class Inference(object):
    """KILN_TEST_FAULT makes it a wrong one. Its networks have no batch norm, which trains otherwise than it infers."""

    variant = "reference"
    rank = 0

    def __init__(self, network, plan, batch, settings):
        del network, batch, settings
        self.fault = os.environ.get("KILN_TEST_FAULT", "")
        self.plan = plan
        self.parameters = doubled(plan)

    def put(self, examples, labels):
        return examples.astype(np.float64), labels

    def step(self, examples, labels):
        del labels
        scores = forward(self.plan, examples)
        return scores[:-1] if self.fault == "too few" else scores * (1.01 if self.fault == "wrong" else 1)

    def compiled(self):
        return False
