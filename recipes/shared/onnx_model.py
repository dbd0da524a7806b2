"""A small ONNX model, written without the onnx package: y = relu(x @ w + b), with x of shape [n, 4].

The format is Protocol Buffers: a field is its number and wire type, then a varint or a length and bytes
(https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3).
"""
import struct

FLOAT = 1


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(operator, inputs, output):
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) + field(4, operator)


def tensor(name, shape, values):
    return b"".join(field(1, size) for size in shape) + field(2, FLOAT) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def value_info(name, shape):
    sizes = b"".join(field(1, field(2, size) if isinstance(size, str) else field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, sizes)))


def model(weights, biases):
    """`weights`: a row for each of the four inputs; `biases`: one for each output."""
    outputs = len(biases)
    graph = b"".join([
        field(1, node("MatMul", ["x", "w"], "product")),
        field(1, node("Add", ["product", "b"], "sum")),
        field(1, node("Relu", ["sum"], "y")),
        field(2, "dense"),
        field(5, tensor("w", [len(weights), outputs], [value for row in weights for value in row])),
        field(5, tensor("b", [outputs], biases)),
        field(11, value_info("x", ["n", len(weights)])),
        field(12, value_info("y", ["n", outputs])),
    ])
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
