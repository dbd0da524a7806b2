"""A network of layers.py as an ONNX model, channels first, written without the onnx package (shared/onnx_model.py has the format)."""
import struct

import numpy as np

from harness import Wrong
from layers import EPSILON
from onnx_model import FLOAT, field, node, value_info


def attribute(name, value):
    """A whole number, a number, or a list of whole numbers."""
    if isinstance(value, float):
        return field(5, field(1, name) + bytes([2 << 3 | 5]) + struct.pack("<f", value) + field(20, 1))
    if isinstance(value, int):
        return field(5, field(1, name) + field(3, value) + field(20, 2))
    return field(5, field(1, name) + b"".join(field(8, number) for number in value) + field(20, 7))


def tensor(name, array):
    """Its bytes as they lie in memory (raw_data)."""
    return b"".join(field(1, size) for size in array.shape) + field(2, FLOAT) + field(8, name) + field(9, array.astype("<f4").tobytes())


class Graph:
    def __init__(self):
        self.nodes, self.tensors, self.parameters = [], [], 0

    def add(self, operator, inputs, **attributes):
        output = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(field(1, node(operator, inputs, output) + b"".join(attribute(*item) for item in attributes.items())))
        return output

    def constant(self, array, trained=True):
        name = f"w{len(self.tensors)}"
        self.tensors.append(field(5, tensor(name, np.ascontiguousarray(array))))
        self.parameters += array.size if trained else 0
        return name

    def layers(self, layers, x):
        for layer in layers:
            build = getattr(self, layer.kind, None)
            if build is None:
                raise Wrong(f"no {layer.kind} of ONNX is written down here")
            x = build(layer, x)
        return x

    def convolution(self, layer, x):
        weights = [self.constant(layer.weights[0].transpose(3, 2, 0, 1))] + [self.constant(bias) for bias in layer.weights[1:]]
        return self.add("Conv", [x] + weights, kernel_shape=[layer.size] * 2, strides=[layer.stride] * 2, pads=[layer.padding] * 4)

    def max_pool(self, layer, x):
        return self.add("MaxPool", [x], kernel_shape=[layer.size] * 2, strides=[layer.stride] * 2, pads=[layer.padding] * 4)

    def batch_norm(self, layer, x):
        size = layer.takes[-1]
        running = [self.constant(made(size), trained=False) for made in (np.zeros, np.ones)]
        return self.add("BatchNormalization", [x] + [self.constant(array) for array in layer.weights] + running, epsilon=EPSILON)

    def relu(self, layer, x):
        return self.add("Relu", [x])

    def flatten(self, layer, x):
        return self.add("Flatten", [x])

    def mean(self, layer, x):
        return self.add("Flatten", [self.add("GlobalAveragePool", [x])])

    def dense(self, layer, x):
        return self.add("Gemm", [x] + [self.constant(array) for array in layer.weights])

    def residual(self, layer, x):
        return self.add("Add", [self.layers(layer.main, x), self.layers(layer.shortcut, x)])


def model(plan, shape, batch, classes):
    """(bytes, parameters) of a model from `examples` to `scores`, for operators of version 17."""
    graph = Graph()
    scores = graph.layers(plan, "examples")
    places = [batch] + ([shape[-1]] + list(shape[:-1]) if len(shape) == 3 else list(shape))
    body = b"".join(graph.nodes) + field(2, "network") + b"".join(graph.tensors)
    body += field(11, value_info("examples", places)) + field(12, value_info(scores, [batch, classes]))
    return field(1, 8) + field(7, body) + field(8, field(1, "") + field(2, 17)), graph.parameters
