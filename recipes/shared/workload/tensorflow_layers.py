"""The layers as TensorFlow's operations, for graphs of TensorFlow 1 and functions of TensorFlow 2, and what proves that a compiler ran."""
from __future__ import division

import os
import tempfile

import tensorflow as tf

from harness import Wrong
from layers import EPSILON, KEPT

v1 = tf.compat.v1
FUSED = "after_optimizations"  # part of the names of the modules that XLA writes when it is done with them


def _windows(layer, x):
    """Zeroes around the images: TensorFlow's own SAME would put them at other places for strides above 1."""
    if layer.padding:
        side = [layer.padding, layer.padding]
        x = tf.pad(x, [[0, 0], side, side, [0, 0]])
    return x


def _norm(x, axes, scale, shift):
    centre, spread = tf.nn.moments(x, axes, keepdims=True)
    return tf.nn.batch_normalization(x, centre, spread, shift, scale, EPSILON)


class Forward(object):
    """The network with its variables. `updates`: of the running means and variances of batch norm, in a graph."""

    def __init__(self, plan, inference=False):
        self.plan, self.inference = plan, inference
        self.weights, self.running, self.updates = [], [], []
        self._take(plan)
        self.parameters = sum(int(variable.shape.num_elements()) for variable in self.weights)

    def _take(self, layers):
        for layer in layers:
            if layer.kind == "residual":
                self._take(layer.main)
                self._take(layer.shortcut)
            layer.variables = [tf.Variable(array) for array in layer.weights]
            self.weights += layer.variables
            if layer.kind == "batch_norm":
                layer.running = [tf.Variable(tf.zeros(layer.takes[-1:]), trainable=False), tf.Variable(tf.ones(layer.takes[-1:]), trainable=False)]
                self.running += layer.running

    def scores(self, x):
        return self._run(self.plan, x)

    def loss(self, examples, labels):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=self.scores(examples)))

    def _run(self, layers, x):
        for layer in layers:
            x = getattr(self, "_" + layer.kind)(layer, x, *layer.variables)
        return x

    def _convolution(self, layer, x, kernel, bias=None):
        y = tf.nn.conv2d(_windows(layer, x), kernel, strides=[1, layer.stride, layer.stride, 1], padding="VALID")
        return y if bias is None else tf.nn.bias_add(y, bias)

    def _max_pool(self, layer, x):
        return v1.nn.max_pool(_windows(layer, x), [1, layer.size, layer.size, 1], [1, layer.stride, layer.stride, 1], "VALID")

    def _batch_norm(self, layer, x, scale, shift):
        if self.inference:
            return v1.nn.fused_batch_norm(x, scale, shift, layer.running[0], layer.running[1], epsilon=EPSILON, is_training=False)[0]
        y, centre, spread = v1.nn.fused_batch_norm(x, scale, shift, epsilon=EPSILON, is_training=True)[:3]
        for running, new in zip(layer.running, (centre, spread)):
            self.updates.append(running.assign(KEPT * running + (1 - KEPT) * new))
        return y

    def _layer_norm(self, layer, x, scale, shift):
        return _norm(x, [-1], scale, shift)

    def _relu(self, layer, x):
        return tf.nn.relu(x)

    def _flatten(self, layer, x):
        return tf.reshape(x, [-1, layer.gives[0]])

    def _mean(self, layer, x):
        return tf.reduce_mean(x, axis=list(range(1, len(layer.takes))))

    def _dense(self, layer, x, kernel, bias):
        if len(layer.takes) == 1:
            return tf.nn.bias_add(tf.matmul(x, kernel), bias)
        rows = tf.matmul(tf.reshape(x, [-1, layer.takes[-1]]), kernel)
        return tf.reshape(tf.nn.bias_add(rows, bias), (-1,) + layer.gives)

    def _attention(self, layer, x, *weights):
        length, width = layer.takes

        def dense(y, number):
            return tf.nn.bias_add(tf.matmul(tf.reshape(y, [-1, width]), weights[number]), weights[number + 1])

        def by_heads(number):
            return tf.transpose(tf.reshape(dense(x, number), [-1, length, layer.heads, width // layer.heads]), [0, 2, 1, 3])

        query, key, value = by_heads(0), by_heads(2), by_heads(4)
        scores = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / (width // layer.heads) ** 0.5)
        mixed = tf.transpose(tf.matmul(scores, value), [0, 2, 1, 3])
        return tf.reshape(dense(mixed, 6), [-1, length, width])

    def _residual(self, layer, x):
        return self._run(layer.main, x) + self._run(layer.shortcut, x)


class XlaDump(object):
    """Has XLA write its modules into a folder, from the first that it compiles on. To be made before anything is computed."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") + " --xla_dump_to=" + self.folder).strip()

    def proof(self):
        """The modules that were compiled in this process, and the fusions in them; none is an error."""
        modules = fusions = 0
        for name in os.listdir(self.folder):
            if FUSED in name and name.endswith(".txt"):
                with open(os.path.join(self.folder, name)) as text:
                    found = text.read().count(" fusion(")
                modules, fusions = modules + 1, fusions + found
        if modules == 0 or fusions == 0:
            raise Wrong("XLA compiled %d modules with %d fusions: it did not take part" % (modules, fusions))
        return {"name": "xla", "modules": modules, "fusions": fusions}


def only(compilers, known):
    unknown = [name for name in compilers if name not in known]
    if unknown:
        raise Wrong("%s compiles nothing of TensorFlow %s" % (" and ".join(unknown), tf.__version__))


def dump_of(settings):
    """TensorFlow 2 made ready: its threads, and where the image has XLA the dump that proves it; else None."""
    only(settings.compilers, ("xla",))
    dump = None
    if "xla" in settings.compilers:
        if "--tf_xla_auto_jit=2" not in os.environ.get("TF_XLA_FLAGS", ""):
            raise Wrong("the image has XLA, but TF_XLA_FLAGS does not switch it on")
        dump = XlaDump()
    tf.config.threading.set_intra_op_parallelism_threads(settings.threads)
    return dump


def device():
    return "gpu" if tf.config.experimental.list_physical_devices("GPU") else "cpu"


def reduced(settings):
    """Horovod for the framework's ranks; None for one rank."""
    if settings.ranks == 1:
        return None
    import horovod.tensorflow as hvd

    hvd.init()
    if hvd.size() != settings.ranks:
        raise Wrong("there are %d ranks, not %d" % (hvd.size(), settings.ranks))
    return hvd
