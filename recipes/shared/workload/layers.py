"""Networks as lists of layers, said once for all frameworks, and the weights that they begin with.

Each framework builds the list from its own layers (step_*.py); the weights are drawn here, so that every framework computes the same
network on the same numbers, and its first loss can be held against one that is known. Works under Python 2.7 and 3.
"""
import numpy as np


class Layer(object):
    """`kind` and its settings, then what `plan` finds out: `takes` and `gives` (shapes of one example, channels last), `weights`."""

    def __init__(self, kind, **settings):
        self.kind = kind
        self.settings = settings
        self.takes = self.gives = None
        self.weights = []  # convolution [height, width, in, out] and biases, dense [in, out] and biases, norms scale and shift

    def __getattr__(self, name):
        try:
            return self.__dict__["settings"][name]
        except KeyError:
            raise AttributeError("a layer %s has no %s" % (self.__dict__.get("kind"), name))


def convolution(filters, size, stride=1, padding=0, bias=True):
    """`padding` rows and columns of zeroes on every side."""
    return Layer("convolution", filters=filters, size=size, stride=stride, padding=padding, bias=bias)


def max_pool(size, stride=None, padding=0):
    """Follows a ReLU, so zeroes pad as well as anything smaller."""
    return Layer("max_pool", size=size, stride=stride or size, padding=padding)


def batch_norm():
    return Layer("batch_norm")


def layer_norm():
    return Layer("layer_norm")


def relu():
    return Layer("relu")


def flatten():
    return Layer("flatten")


def mean():
    """Over all places of an image, or all members of a sequence."""
    return Layer("mean")


def dense(units):
    return Layer("dense", units=units)


def attention(heads):
    """Self-attention of a sequence: query, key, value and output, each dense with biases."""
    return Layer("attention", heads=heads)


def residual(main, shortcut=()):
    """The sum of two branches; an empty one is the input itself."""
    return Layer("residual", main=list(main), shortcut=list(shortcut))


EPSILON = 1e-5  # of both norms
KEPT = 0.9  # of the running mean and variance of batch norm, at each step


class _Planner(object):
    def __init__(self, channels_first, seed):
        self.channels_first = channels_first
        self.random = np.random.RandomState(seed)  # its stream is the same in every NumPy

    def uniform(self, shape, fan_in):
        bound = fan_in ** -0.5
        return self.random.uniform(-bound, bound, shape).astype(np.float32)

    def layers(self, layers, shape):
        """Fills in `layers`; returns the shape that comes out. A dense layer behind `flatten` may see channels first."""
        before = None
        for layer in layers:
            layer.takes = shape
            getattr(self, layer.kind, self.same)(layer)
            shape = layer.gives
            if layer.kind == "dense" and self.channels_first and before is not None and before.kind == "flatten" and len(before.takes) == 3:
                height, width, channels = before.takes
                rows = layer.weights[0].reshape(height, width, channels, layer.units).transpose(2, 0, 1, 3)
                layer.weights[0] = np.ascontiguousarray(rows.reshape(-1, layer.units))
            before = layer
        return shape

    def same(self, layer):
        layer.gives = layer.takes

    def windows(self, layer, channels):
        def places(length):
            return (length + 2 * layer.padding - layer.size) // layer.stride + 1

        layer.gives = (places(layer.takes[0]), places(layer.takes[1]), channels)

    def convolution(self, layer):
        channels = layer.takes[2]
        fan_in = layer.size * layer.size * channels
        # Where batch norm follows, as He et al. draw them: the numbers keep their size through many layers, in inference, too.
        layer.weights = [self.uniform((layer.size, layer.size, channels, layer.filters), fan_in if layer.bias else fan_in / 6.0)]
        if layer.bias:
            layer.weights.append(self.uniform((layer.filters,), fan_in))
        self.windows(layer, layer.filters)

    def max_pool(self, layer):
        self.windows(layer, layer.takes[2])

    def batch_norm(self, layer):
        layer.weights = [np.ones(layer.takes[-1], np.float32), np.zeros(layer.takes[-1], np.float32)]
        layer.gives = layer.takes

    layer_norm = batch_norm

    def flatten(self, layer):
        layer.gives = (int(np.prod(layer.takes)),)

    def mean(self, layer):
        layer.gives = layer.takes[-1:]

    def dense(self, layer):
        inputs = layer.takes[-1]
        layer.weights = [self.uniform((inputs, layer.units), inputs), self.uniform((layer.units,), inputs)]
        layer.gives = layer.takes[:-1] + (layer.units,)

    def attention(self, layer):
        width = layer.takes[-1]
        for _ in ("query", "key", "value", "output"):
            layer.weights += [self.uniform((width, width), width), self.uniform((width,), width)]
        layer.gives = layer.takes

    def residual(self, layer):
        gives = [self.layers(branch, layer.takes) for branch in (layer.main, layer.shortcut)]
        if gives[0] != gives[1]:
            raise ValueError("the branches of a residual give %s and %s" % tuple(gives))
        layer.gives = gives[0]


def plan(layers, shape, channels_first=False, seed=0):
    """Gives every layer its shapes and first weights. `channels_first`: for frameworks that flatten images so."""
    _Planner(channels_first, seed).layers(layers, tuple(shape))
    return layers


def every_weight(layers):
    """All arrays, in the order of the layers."""
    found = []
    for layer in layers:
        if layer.kind == "residual":
            found += every_weight(layer.main) + every_weight(layer.shortcut)
        found += layer.weights
    return found
