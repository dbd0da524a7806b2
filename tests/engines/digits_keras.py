"""A small network in Keras and made digits, for the training scripts of the job tests.

Each step has 64 pictures, of which a rank takes its share. Equal steps therefore give equal losses for any number of ranks.
"""
import hashlib

import numpy
import tensorflow as tf

BATCH = 64


def repeatable(seed):
    """Makes the first weights and the sums depend on the seed alone."""
    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()


def network():
    """Returns the model and its optimizer, both with their variables."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((28, 28, 1)), layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
                                 layers.Dense(10)])
    optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)
    return model, optimizer


def share(step, rank, size):
    """Returns a rank's pictures of a step, and the digits that they show."""
    dice = numpy.random.default_rng(step)
    digits = dice.integers(0, 10, BATCH)
    pictures = (dice.standard_normal((BATCH, 28, 28, 1)) + digits.reshape(-1, 1, 1, 1) / 3).astype(numpy.float32)
    own = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
    return tf.constant(pictures[own]), tf.constant(digits[own])


def part_of_loss(model, pictures, digits):
    """Returns a share's part of the step's mean loss: the sum over all ranks is the mean."""
    losses = tf.keras.losses.sparse_categorical_crossentropy(digits, model(pictures, training=True), from_logits=True)
    return tf.reduce_sum(losses) / BATCH


def write_result(path, loss, model):
    """Writes the loss and a hash of the weights."""
    weights = hashlib.sha256(b"".join(one.tobytes() for one in model.get_weights())).hexdigest()
    with open(path, "w") as file:
        print(f"{loss:.4f} {weights}", file=file)
