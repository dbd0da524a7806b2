"""Trains a small network on made digits in Keras, alone or as one of the workers of TF_CONFIG.

    train_digits_tensorflow.py RESULT [STEPS [SECONDS]]

RESULT.RANK gets the last loss and a hash of the weights. A step takes at least SECONDS. With KILN_CHECKPOINT_PATH, a folder, the state is
kept there after each step, and a later run goes on from it.
"""
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

import digits_keras

result, steps, seconds = sys.argv[1], int((sys.argv[2:] or ["20"])[0]), float((sys.argv[3:] or ["0"])[0])
config = json.loads(os.environ.get("TF_CONFIG", "{}"))
rank, size = config.get("task", {}).get("index", 0), len(config.get("cluster", {}).get("worker", [""]))
tf.config.threading.set_intra_op_parallelism_threads(1)
# A strategy of several workers connects them, which must happen before any other operation.
strategy = tf.distribute.MultiWorkerMirroredStrategy() if size > 1 else tf.distribute.get_strategy()
digits_keras.repeatable(1)
with strategy.scope():
    model, optimizer = digits_keras.network()


@tf.function
def train(pictures, digits):
    def one(pictures, digits):
        with tf.GradientTape() as tape:
            loss = digits_keras.part_of_loss(model, pictures, digits)
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
    loss = float(train(*digits_keras.share(step, rank, size)))
    done.assign_add(1)
    if manager:
        manager.save()
    print(f"step {step}", flush=True)
    time.sleep(max(0.0, seconds - (time.monotonic() - began)))
digits_keras.write_result(f"{result}.{rank}", loss, model)
