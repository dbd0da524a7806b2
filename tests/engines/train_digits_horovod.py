"""Trains a small network on made digits in Keras with Horovod, as one of the ranks that MPI started.

    train_digits_horovod.py RESULT [STEPS]

RESULT.RANK gets the last loss and a hash of the weights. The ranks begin with different weights, and take those of rank 0.
"""
import os
import socket
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import horovod.tensorflow as hvd
import tensorflow as tf

import digits_keras

result, steps = sys.argv[1], int((sys.argv[2:] or ["20"])[0])
hvd.init()
print(f"rank {hvd.rank()} of {hvd.size()} on {socket.gethostname()}", flush=True)
tf.config.threading.set_intra_op_parallelism_threads(1)
digits_keras.repeatable(1 + hvd.rank())
model, optimizer = digits_keras.network()
hvd.broadcast_variables(model.variables, root_rank=0)


@tf.function
def train(pictures, digits):
    with tf.GradientTape() as tape:
        loss = digits_keras.part_of_loss(model, pictures, digits)
    gradients = hvd.DistributedGradientTape(tape, op=hvd.Sum).gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return hvd.allreduce(loss, op=hvd.Sum)


loss = 0.0
for step in range(steps):
    loss = float(train(*digits_keras.share(step, hvd.rank(), hvd.size())))
    print(f"step {step}", flush=True)
digits_keras.write_result(f"{result}.{hvd.rank()}", loss, model)
