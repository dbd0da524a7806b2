"""One rank: what Horovod was built with, and the sum of a tensor over the ranks, computed by the image's framework."""
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
if os.environ["KILN_GPU_TARGETS"]:
    parts.update({"CUDA": hvd.cuda_built(), "NCCL": hvd.nccl_built()})
missing = [part for part, built in parts.items() if not built]
if missing or hvd.size() != 2:
    sys.exit("horovod is built without %s, or rank %d of %d stands alone" % (missing, hvd.rank(), hvd.size()))
if framework == "tensorflow":
    with tf.device("/cpu:0"):
        total = hvd.allreduce(tf.fill([3], hvd.rank() + 1.0), op=hvd.Sum).numpy().tolist()
else:
    total = hvd.allreduce(mx.nd.full((3,), hvd.rank() + 1.0), average=False).asnumpy().tolist()
if total != [3.0, 3.0, 3.0]:
    sys.exit("rank %d finds %s" % (hvd.rank(), total))
if hvd.rank() == 0:
    print("horovod %s with %s for %s: two ranks add rightly" % (wanted, ", ".join(parts), framework))
