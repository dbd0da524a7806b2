"""Proves that XLA compiles here: operations are fused in the optimised module, and the executable equals NumPy.

On the GPU that the target has where there is one, else on the CPU.
"""
import ctypes
import os
import pathlib
import sys


def has_gpu(amd):
    """The kernel's device and, for NVIDIA's, the driver's library, which is the machine's and never in an image."""
    if amd or not pathlib.Path("/dev/nvidiactl").exists():
        return amd and pathlib.Path("/dev/kfd").exists()
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


targets = os.environ.get("KILN_GPU_TARGETS", "").split()
on_gpu = bool(targets) and has_gpu(targets[0].startswith("gfx"))
if not on_gpu:
    os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np


def function(x, y):
    return jnp.sum(jnp.tanh(x) * y + jnp.exp(-x * x), axis=1)


rng = np.random.default_rng(0)
x, y = (rng.standard_normal((64, 256), dtype=np.float32) for _ in range(2))
lowered = jax.jit(function).lower(x, y)
executable = lowered.compile()

# Before: one operation each, nothing fused. After: XLA's own fusions.
before, after = lowered.as_text(), executable.as_text()
if "stablehlo.tanh" not in before or "fusion" in before:
    sys.exit("the lowered module is not what JAX writes:\n" + before)
fusions = after.count(" fusion(")
if not after.startswith("HloModule") or fusions == 0:
    sys.exit("XLA fused nothing:\n" + after)
platform = executable.runtime_executable().client.platform
if (platform == "cpu") == on_gpu:
    sys.exit(f"the executable is for {platform}")

wanted = np.sum(np.tanh(x) * y + np.exp(-x * x), axis=1)
np.testing.assert_allclose(np.asarray(executable(x, y)), wanted, rtol=1e-4, atol=1e-4)
proof = "" if on_gpu or not targets else ", not run: there is no GPU here"
print(f"xla: an executable for {platform} with {fusions} fusions, equal to NumPy{proof}")
