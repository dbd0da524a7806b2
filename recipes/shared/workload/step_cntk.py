"""A training step in CNTK 2: a function with its own parameters, and a trainer. Images are channels first."""
import cntk
import numpy as np

from harness import Wrong

CHANNELS_FIRST = True
VERSION = cntk.__version__


def device():
    return "gpu" if any(found.type() == cntk.device.DeviceKind.GPU for found in cntk.device.all_devices()) else "cpu"


def convolution(layer, x):
    kernel = cntk.parameter(init=np.ascontiguousarray(layer.weights[0].transpose(3, 2, 0, 1)))
    y = cntk.convolution(kernel, x, strides=(1, layer.stride, layer.stride), auto_padding=[False])
    return y + cntk.parameter(init=layer.weights[1].reshape(-1, 1, 1)) if layer.bias else y


def dense(layer, x):
    return cntk.times(x, cntk.parameter(init=layer.weights[0])) + cntk.parameter(init=layer.weights[1])


def max_pool(layer, x):
    return cntk.pooling(x, cntk.MAX_POOLING, (layer.size, layer.size), (layer.stride, layer.stride))


def made(layer, x):
    if layer.kind in ("convolution", "max_pool") and layer.padding:
        raise Wrong("no padded %s of CNTK is written down here" % layer.kind)
    build = {
        "convolution": convolution, "dense": dense, "max_pool": max_pool,
        "relu": lambda layer, x: cntk.relu(x), "flatten": lambda layer, x: cntk.reshape(x, (-1,)),
    }.get(layer.kind)
    if build is None:
        raise Wrong("no %s of CNTK is written down here" % layer.kind)
    return build(layer, x)


class Training(object):
    variant = "graph"
    rank = 0

    def __init__(self, network, plan, batch, settings):
        if settings.compilers or settings.ranks > 1:
            raise Wrong("no training step of CNTK with a graph compiler, nor over ranks")
        cntk.cntk_py.set_max_num_cputhreads(settings.threads)
        self.classes = network.CLASSES
        shape = network.INPUT[-1:] + tuple(network.INPUT[:-1])
        self.examples, self.labels = cntk.input_variable(shape), cntk.input_variable(network.CLASSES)
        x = self.examples
        for layer in plan:
            x = made(layer, x)
        self.parameters = sum(int(np.prod(parameter.shape)) for parameter in x.parameters)
        loss = cntk.cross_entropy_with_softmax(x, self.labels)
        # The mean of a batch's gradients, as everywhere else: CNTK's own habit is their sum.
        learner = cntk.sgd(x.parameters, cntk.learning_parameter_schedule(network.RATE, minibatch_size=batch))
        self.trainer = cntk.Trainer(x, (loss, None), [learner])

    def put(self, examples, labels):
        if examples.ndim == 4:
            examples = examples.transpose(0, 3, 1, 2)
        return np.ascontiguousarray(examples), np.eye(self.classes, dtype=np.float32)[labels]

    def step(self, examples, labels):
        self.trainer.train_minibatch({self.examples: examples, self.labels: labels})
        return self.trainer.previous_minibatch_loss_average  # waits until it is computed

    def compiled(self):
        return False
