"""A training step in MXNet 1, by Gluon: a network made into a symbol (hybridised), and its trainer. Images are channels first."""
from __future__ import division

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn

from harness import Wrong
from layers import EPSILON, KEPT

CHANNELS_FIRST = True
VERSION = mx.__version__


def device():
    return "gpu" if mx.context.num_gpus() else "cpu"


class Mean(gluon.HybridBlock):
    def __init__(self, axes):
        super(Mean, self).__init__()
        self.axes = axes

    def hybrid_forward(self, F, x):
        return F.mean(x, axis=self.axes)


class Residual(gluon.HybridBlock):
    def __init__(self, main, shortcut):
        super(Residual, self).__init__()
        self.main, self.shortcut = main, shortcut

    def hybrid_forward(self, F, x):
        return self.main(x) + self.shortcut(x)


class Same(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.identity(x)


class Attention(gluon.HybridBlock):
    def __init__(self, shape, heads, weights, place):
        super(Attention, self).__init__()
        self.shape, self.heads = shape, heads
        for number, name in enumerate(("query", "key", "value", "result")):
            part = nn.Dense(shape[1], in_units=shape[1], flatten=False)
            setattr(self, name, given(part, weights[2 * number : 2 * number + 2], place))

    def hybrid_forward(self, F, x):
        length, width = self.shape
        size = width // self.heads

        def by_heads(y):
            return F.reshape(F.transpose(F.reshape(y, shape=(-1, length, self.heads, size)), axes=(0, 2, 1, 3)), shape=(-1, length, size))

        query, key, value = by_heads(self.query(x)), by_heads(self.key(x)), by_heads(self.value(x))
        scores = F.softmax(F.batch_dot(query, key, transpose_b=True) / size ** 0.5)
        mixed = F.transpose(F.reshape(F.batch_dot(scores, value), shape=(-1, self.heads, length, size)), axes=(0, 2, 1, 3))
        return self.result(F.reshape(mixed, shape=(-1, length, width)))


def given(block, weights, place):
    """`block` with the weights in the order in which it was given its parameters; those of batch norm's running values stay."""
    block.initialize(ctx=place)
    parameters = [parameter for parameter in block.collect_params().values() if parameter.grad_req != "null"]
    if len(parameters) != len(weights):
        raise Wrong("MXNet's %s has other parameters than it should" % type(block).__name__)
    for parameter, array in zip(parameters, weights):
        if array.ndim == 4:
            array = array.transpose(3, 2, 0, 1)
        elif array.ndim == 2:
            array = array.T
        parameter.set_data(mx.nd.array(np.ascontiguousarray(array), ctx=place))
    return block


def made(layer, place):
    inputs = layer.takes[-1]
    if layer.kind == "convolution":
        block = nn.Conv2D(layer.filters, layer.size, layer.stride, layer.padding, use_bias=layer.bias, in_channels=inputs)
    elif layer.kind == "dense":
        block = nn.Dense(layer.units, in_units=inputs, flatten=False)
    elif layer.kind == "batch_norm":
        block = nn.BatchNorm(momentum=KEPT, epsilon=EPSILON, in_channels=inputs)
    elif layer.kind == "layer_norm":
        block = nn.LayerNorm(epsilon=EPSILON, in_channels=inputs)
    elif layer.kind == "max_pool":
        block = nn.MaxPool2D(layer.size, layer.stride, layer.padding)
    elif layer.kind == "attention":
        return Attention(layer.takes, layer.heads, layer.weights, place)
    elif layer.kind == "residual":
        return Residual(sequence(layer.main, place), sequence(layer.shortcut, place) if layer.shortcut else Same())
    elif layer.kind == "mean":
        block = Mean((2, 3) if len(layer.takes) == 3 else 1)
    else:
        block = nn.Flatten() if layer.kind == "flatten" else nn.Activation("relu")
    return given(block, layer.weights, place)


def sequence(layers, place):
    found = nn.HybridSequential()
    for layer in layers:
        found.add(made(layer, place))
    return found


def trained_numbers(module):
    return sum(int(np.prod(parameter.shape)) for parameter in module.collect_params().values() if parameter.grad_req != "null")


def put(examples, place):
    if examples.ndim == 4:
        examples = examples.transpose(0, 3, 1, 2)
    return mx.nd.array(np.ascontiguousarray(examples), ctx=place)


class Training(object):
    variant = "hybrid"

    def __init__(self, network, plan, batch, settings):
        if settings.compilers:
            raise Wrong("%s compiles no training step of MXNet" % " and ".join(settings.compilers))
        self.batch = batch
        self.place = mx.gpu() if device() == "gpu" else mx.cpu()
        self.module = sequence(plan, self.place)
        self.module.hybridize(static_alloc=True, static_shape=True)
        self.parameters = trained_numbers(self.module)
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()
        self.loss.hybridize()
        self.rank = 0
        rate = {"learning_rate": network.RATE}
        if settings.ranks > 1:
            import horovod.mxnet as hvd

            hvd.init()
            if hvd.size() != settings.ranks:
                raise Wrong("there are %d ranks, not %d" % (hvd.size(), settings.ranks))
            self.rank = hvd.rank()
            self.trainer = hvd.DistributedTrainer(self.module.collect_params(), "sgd", rate)
        else:
            self.trainer = gluon.Trainer(self.module.collect_params(), "sgd", rate)

    def put(self, examples, labels):
        return put(examples, self.place), mx.nd.array(labels, ctx=self.place)

    def step(self, examples, labels):
        with autograd.record():
            losses = self.loss(self.module(examples), labels)
        losses.backward()
        self.trainer.step(self.batch)
        mx.nd.waitall()  # the update, too
        return losses.mean().asscalar()

    def compiled(self):
        return False


class Inference(object):
    variant = "hybrid"
    rank = 0

    def __init__(self, network, plan, batch, settings):
        del network, batch
        if settings.compilers or settings.ranks > 1:
            raise Wrong("no inference with MXNet by a graph compiler, nor over ranks")
        self.place = mx.gpu() if device() == "gpu" else mx.cpu()
        self.module = sequence(plan, self.place)
        self.module.hybridize(static_alloc=True, static_shape=True)
        self.parameters = trained_numbers(self.module)

    def put(self, examples, labels):
        return put(examples, self.place), labels

    def step(self, examples, labels):
        del labels
        return self.module(examples).asnumpy()

    def compiled(self):
        return False
