"""A training step by Keras inside TensorFlow, 1 and 2: a model, compiled for an optimiser and a loss, that trains on batches."""
import tensorflow as tf

import tensorflow_layers
from harness import Wrong
from layers import every_weight
from tensorflow_layers import device, v1  # noqa: F401 (train.py asks for device)

CHANNELS_FIRST = False
VERSION = tf.__version__
keras = tf.keras


def made(layer):
    if layer.kind == "convolution" and layer.padding == 0:
        return keras.layers.Conv2D(layer.filters, layer.size, strides=layer.stride, use_bias=layer.bias)
    if layer.kind == "max_pool" and layer.padding == 0:
        return keras.layers.MaxPooling2D(layer.size, strides=layer.stride)
    if layer.kind == "dense":
        return keras.layers.Dense(layer.units)
    if layer.kind == "relu":
        return keras.layers.Activation("relu")
    if layer.kind == "flatten":
        return keras.layers.Flatten()
    raise Wrong("no layer of Keras is written down here for %s" % layer.kind)


class Training(object):
    variant = "keras"
    rank = 0

    def __init__(self, network, plan, batch, settings):
        if settings.ranks > 1:
            raise Wrong("no training over ranks with Keras")
        self.dump = None
        if VERSION.startswith("1."):
            # Nothing would prove that a compiler takes part: the graph of mnist-cnn can show it.
            tensorflow_layers.only(settings.compilers, ())
            v1.keras.backend.set_session(v1.Session(config=v1.ConfigProto(intra_op_parallelism_threads=settings.threads)))
        else:
            self.dump = tensorflow_layers.dump_of(settings)
        images = keras.layers.Input(shape=network.INPUT, batch_size=batch)
        x = images
        for layer in plan:
            x = made(layer)(x)
        self.model = keras.models.Model(images, keras.layers.Activation("softmax")(x))
        self.model.set_weights(every_weight(plan))
        self.parameters = int(self.model.count_params())
        self.model.compile(optimizer=keras.optimizers.SGD(network.RATE), loss="sparse_categorical_crossentropy")

    def put(self, examples, labels):
        return examples, labels

    def step(self, examples, labels):
        return self.model.train_on_batch(examples, labels)

    def compiled(self):
        return self.dump.proof()["name"] if self.dump else False
