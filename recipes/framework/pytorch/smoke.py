"""PyTorch is the version asked for, has machine code for the target's GPUs, and a convolution, a matrix product and a gradient are right.

Where the test runs there may be no GPU: then the code is looked for and not run, and the last line says so. Runs under Python 2.7, too.
"""
from __future__ import print_function

import os
import sys

import torch
import torch.nn.functional as F

# PyTorch 1.4 knows it by an older name, with tolerances of its own.
assert_close = getattr(torch.testing, "assert_close", None) or (
    lambda found, right: torch.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4))

wanted = os.environ["KILN_VERSION"]
if torch.__version__.split("+")[0] != wanted:
    sys.exit("torch is %s, not %s" % (torch.__version__, wanted))
# An image for GPUs has CUDA inside; a CPU build there would do all its work slowly and say nothing.
if os.path.isdir("/usr/local/cuda") and torch.version.cuda is None:
    sys.exit("the image has CUDA, but this torch is built without it")



def covers(built, target):
    """Does sm_86 run on sm_89 (same generation, not newer), or is there PTX that the driver can compile?"""
    number = int(target[3:].rstrip("af"))
    for word in built:
        kind, _, text = word.partition("_")
        if not text.rstrip("af").isdigit():
            continue
        have = int(text.rstrip("af"))
        if have <= number and (kind == "compute" or have // 10 == number // 10 and text[-1].isdigit()):
            return True
    return False


proof = "CPU"
targets = os.environ.get("KILN_GPU_TARGETS", "").split()
if targets and targets[0].startswith("sm_") and int(wanted.split(".")[0]) >= 2:
    built = torch._C._cuda_getArchFlags().split()
    missing = [target for target in targets if not covers(built, target)]
    if missing:
        sys.exit("no code for %s; this torch has %s" % (missing, built))
    proof = "CUDA %s with code for %s" % (torch.version.cuda, " ".join(targets))
elif targets and targets[0].startswith("gfx"):
    if torch.version.hip is None:
        sys.exit("the target has an AMD GPU, but this torch is built without ROCm")
    built = torch._C._cuda_getArchFlags().split()
    missing = [target for target in targets if not any(word.split(":")[0] == target for word in built)]
    if missing:
        sys.exit("no code for %s; this torch has %s" % (missing, built))
    proof = "HIP %s with code for %s" % (torch.version.hip, " ".join(targets))
device = "cpu"
if targets and torch.cuda.is_available():
    device = "cuda"
    proof += ", run on " + torch.cuda.get_device_name()
elif targets:
    proof += ", not run: there is no GPU here"

torch.manual_seed(0)
image = torch.randn(2, 3, 8, 8, device=device, requires_grad=True)
kernel = torch.randn(4, 3, 3, 3, device=device)
convolved = F.conv2d(image, kernel)
# The same convolution as a matrix product.
product = torch.matmul(kernel.reshape(4, -1), F.unfold(image, 3)).reshape(2, 4, 6, 6)
assert_close(convolved, product)

convolved.sum().backward()
assert_close(image.grad[0, :, 4, 4], kernel.sum(dim=(0, 2, 3)))

torch.mm(torch.randn(256, 256), torch.randn(256, 256))  # makes the linker bind its BLAS
with open("/proc/self/maps") as maps:
    mapped = set(line.split()[-1] for line in maps if "/" in line)
blas = sorted(path for path in mapped if "blas" in os.path.basename(path).lower())
print("torch %s, %s, %d threads, BLAS: %s" % (torch.__version__, proof, torch.get_num_threads(), " ".join(blas) or "built in"))
