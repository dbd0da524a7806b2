"""MXNet is the version asked for, built with MKL-DNN where that is the method, and a matrix product and a gradient are right."""
from __future__ import print_function

import os
import sys

import mxnet as mx
import numpy as np

wanted = os.environ["KILN_VERSION"]
if mx.__version__ != wanted:
    sys.exit("mxnet is %s, not %s" % (mx.__version__, wanted))
features = mx.runtime.Features()
if os.path.isdir("/usr/local/cuda") and not features.is_enabled("CUDA"):
    sys.exit("the image has CUDA, but this mxnet is built without it")
if os.environ["KILN_METHOD"] == "vendor" and not features.is_enabled("MKLDNN"):
    sys.exit("this mxnet is built without MKL-DNN")

targets = os.environ.get("KILN_GPU_TARGETS", "").split()
try:
    on_gpu = bool(targets) and mx.context.num_gpus() > 0
except mx.base.MXNetError:  # there is no driver
    on_gpu = False
place = mx.gpu(0) if on_gpu else mx.cpu()
a = mx.nd.array(np.arange(6.0).reshape(2, 3), ctx=place)
b = mx.nd.array(np.ones((3, 4)), ctx=place)
a.attach_grad()
with mx.autograd.record():
    total = mx.nd.dot(a, b).sum()
total.backward()
if total.asscalar() != 60.0 or not (a.grad.asnumpy() == 4.0).all():
    sys.exit("a product or its gradient is wrong")
proof = "" if on_gpu or not targets else ", not run: there is no GPU here"
print("mxnet %s, CUDA %s, MKL-DNN %s%s" % (
    (mx.__version__,) + tuple("inside" if features.is_enabled(name) else "none" for name in ("CUDA", "MKLDNN")) + (proof,)))
