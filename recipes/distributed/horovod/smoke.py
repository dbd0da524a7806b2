"""One rank: what Horovod was built with, and the sum of a tensor over the ranks, computed by the image's framework.

For GPUs each rank takes one of its own: NCCL refuses two ranks on one GPU. Where there are fewer the sum is computed on the CPU, and the last
line says so.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
framework = os.environ["KILN_FRAMEWORK_NAME"]
if framework == "tensorflow":
    import horovod.tensorflow as hvd
    import tensorflow as tf
else:
    import horovod.mxnet as hvd
    import mxnet as mx
import horovod

wanted = os.environ["KILN_VERSION"]
if horovod.__version__ != wanted:
    sys.exit("horovod is %s, not %s" % (horovod.__version__, wanted))
hvd.init()
parts = {"MPI": hvd.mpi_built(), "Gloo": hvd.gloo_built()}
for_gpus = bool(os.environ["KILN_GPU_TARGETS"])
if for_gpus:
    parts.update({"CUDA": hvd.cuda_built(), "NCCL": hvd.nccl_built()})
missing = [part for part, built in parts.items() if not built]
if missing or hvd.size() != 2:
    sys.exit("horovod is built without %s, or rank %d of %d stands alone" % (missing, hvd.rank(), hvd.size()))
gpus = 0
if for_gpus and framework == "tensorflow":
    found = tf.config.list_physical_devices("GPU")
    gpus = len(found)
    if gpus > 1:
        tf.config.set_visible_devices(found[hvd.local_rank()], "GPU")
elif for_gpus:
    gpus = mx.context.num_gpus()
on_gpus = gpus > 1
if framework == "tensorflow":
    with tf.device("/gpu:0" if on_gpus else "/cpu:0"):
        total = hvd.allreduce(tf.fill([3], hvd.rank() + 1.0), op=hvd.Sum).numpy().tolist()
else:
    place = mx.gpu(hvd.local_rank()) if on_gpus else mx.cpu()
    total = hvd.allreduce(mx.nd.full((3,), hvd.rank() + 1.0, ctx=place), average=False).asnumpy().tolist()
if total != [3.0, 3.0, 3.0]:
    sys.exit("rank %d finds %s" % (hvd.rank(), total))
if hvd.rank() == 0:
    proof = "horovod %s with %s for %s: two ranks add rightly" % (wanted, ", ".join(parts), framework)
    if on_gpus:
        proof += " on a GPU each"
    elif for_gpus:
        proof += ", not run: two ranks want a GPU each, and there %s here" % ("is one" if gpus else "is none")
    print(proof)
