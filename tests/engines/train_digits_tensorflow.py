"""Trains a small network on made digits in Keras, alone or as one of the workers of TF_CONFIG.

    train_digits_tensorflow.py RESULT [STEPS [SECONDS]]

RESULT.RANK gets the last loss and a hash of the weights. Each step has 64 pictures of which a worker takes its share, so equal steps give
equal losses however many workers there are. A step takes at least SECONDS. With KILN_CHECKPOINT_PATH, a folder, the state is kept there
after each step, and a later run goes on from it.
"""
import hashlib
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy
import tensorflow as tf

BATCH = 64
result, steps, seconds = sys.argv[1], int((sys.argv[2:] or ["20"])[0]), float((sys.argv[3:] or ["0"])[0])
config = json.loads(os.environ.get("TF_CONFIG", "{}"))
rank, size = config.get("task", {}).get("index", 0), len(config.get("cluster", {}).get("worker", [""]))
tf.config.threading.set_intra_op_parallelism_threads(1)
# A strategy of several workers connects them, which must happen before any other operation.
strategy = tf.distribute.MultiWorkerMirroredStrategy() if size > 1 else tf.distribute.get_strategy()
tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()
with strategy.scope():
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((28, 28, 1)), layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
                                 layers.Dense(10)])
    optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)


@tf.function
def train(pictures, digits):
    def one(pictures, digits):
        with tf.GradientTape() as tape:
            losses = tf.keras.losses.sparse_categorical_crossentropy(digits, model(pictures, training=True), from_logits=True)
            loss = tf.reduce_sum(losses) / BATCH
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # the sum of all workers' gradients
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(one, args=(pictures, digits)), axis=None)


done = tf.Variable(0, dtype=tf.int64)
kept = os.environ.get("KILN_CHECKPOINT_PATH", "")
manager = None
if kept:
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(done=done, model=model, optimizer=optimizer), kept, max_to_keep=2)
    if manager.restore_or_initialize():
        print(f"goes on at step {int(done)}", flush=True)
loss = 0.0
for step in range(int(done), steps):
    began = time.monotonic()
    dice = numpy.random.default_rng(step)
    digits = dice.integers(0, 10, BATCH)
    pictures = (dice.standard_normal((BATCH, 28, 28, 1)) + digits.reshape(-1, 1, 1, 1) / 3).astype(numpy.float32)
    share = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
    loss = float(train(tf.constant(pictures[share]), tf.constant(digits[share])))
    done.assign_add(1)
    if manager:
        manager.save()
    print(f"step {step}", flush=True)
    time.sleep(max(0.0, seconds - (time.monotonic() - began)))
weights = hashlib.sha256(b"".join(one.tobytes() for one in model.get_weights())).hexdigest()
with open(f"{result}.{rank}", "w") as file:
    print(f"{loss:.4f} {weights}", file=file)
