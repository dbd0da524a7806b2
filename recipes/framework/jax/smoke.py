"""JAX is the version asked for, comes from the recipe's own folder, and computes on the device that the target has.

Where the test runs there may be no GPU: then its plugin must at least load, and the last line says that it did not run.
"""
import ctypes
import importlib.util
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

wanted = os.environ["KILN_VERSION"]
if jax.__version__ != wanted:
    sys.exit(f"jax is {jax.__version__}, not {wanted}")
if os.environ["KILN_METHOD"] != "hub" and not jax.__file__.startswith("/opt/kiln/jax/"):
    sys.exit(f"jax was loaded from {jax.__file__}")

proof = ""
if targets:
    if targets[0].startswith("gfx"):
        names, library = ("jax_plugins.xla_rocm7", "jax_plugins.xla_rocm60"), "xla_rocm_plugin.so"
    else:
        names, library = ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12"), "xla_cuda_plugin.so"
    specs = [spec for spec in map(importlib.util.find_spec, names) if spec]
    if not specs:
        sys.exit(f"none of {names} is installed: JAX would compute on the CPU")
    plugin = pathlib.Path(specs[0].origin).with_name(library)
    # The libraries that the wheels bring are found by the plugin's own paths; a missing one fails here.
    if not hasattr(ctypes.CDLL(str(plugin)), "GetPjrtApi"):
        sys.exit(f"{plugin} is no PJRT plugin")
    proof = f"{plugin.parent.name} loads"
    if jax.default_backend() == "cpu":
        if on_gpu:
            sys.exit(f"there is a GPU, but the devices are {jax.devices()}")
        proof += ", not run: there is no GPU here; "
    else:
        proof += ", run on "
elif jax.devices()[0].platform != "cpu":
    sys.exit(f"devices are {jax.devices()}")
if float(jnp.arange(10.0).sum()) != 45.0:
    sys.exit("a sum is wrong")
print(f"jax {jax.__version__}, {proof}{jax.devices()}")
