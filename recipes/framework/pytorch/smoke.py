"""PyTorch is the version asked for and a convolution, a matrix product and a gradient are right."""
import os
import pathlib
import sys

import torch
import torch.nn.functional as F

# PyTorch 1.4 knows it by an older name, with tolerances of its own.
assert_close = getattr(torch.testing, "assert_close", None) or (
    lambda found, right: torch.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4))

wanted = os.environ["KILN_VERSION"]
if torch.__version__.split("+")[0] != wanted:
    sys.exit(f"torch is {torch.__version__}, not {wanted}")
# An image for GPUs has CUDA inside; a CPU build there would do all its work slowly and say nothing.
if os.path.isdir("/usr/local/cuda") and torch.version.cuda is None:
    sys.exit("the image has CUDA, but this torch is built without it")

torch.manual_seed(0)
image = torch.randn(2, 3, 8, 8, requires_grad=True)
kernel = torch.randn(4, 3, 3, 3)
convolved = F.conv2d(image, kernel)
# The same convolution as a matrix product.
product = (kernel.reshape(4, -1) @ F.unfold(image, 3)).reshape(2, 4, 6, 6)
assert_close(convolved, product)

convolved.sum().backward()
assert_close(image.grad[0, :, 4, 4], kernel.sum(dim=(0, 2, 3)))

torch.mm(torch.randn(256, 256), torch.randn(256, 256))  # makes the linker bind its BLAS
mapped = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/" in line}
blas = sorted(path for path in mapped if "blas" in pathlib.Path(path).name.lower())
print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, BLAS: {' '.join(blas) or 'built in'}")
