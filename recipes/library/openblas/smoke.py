"""OpenBLAS is the BLAS of this process, has the right version, and is the one that PyTorch computes with."""
import ctypes
import importlib.util
import os
import pathlib
import sys


def mapped_blas():
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return sorted({line.split()[-1] for line in lines if "/" in line and "blas" in line})


told = "libblas.so.3"
if importlib.util.find_spec("torch"):
    import torch

    size = 512
    torch.manual_seed(0)
    a, b = torch.randn(size, size), torch.randn(size, size)
    torch.testing.assert_close(a @ b, (a.double() @ b.double()).float(), rtol=1e-3, atol=1e-3)
    told = "PyTorch's BLAS"
else:
    ctypes.CDLL("libblas.so.3", mode=ctypes.RTLD_GLOBAL)

mapped = mapped_blas()
foreign = [path for path in mapped if "openblas" not in path]
if foreign or not mapped:
    sys.exit(f"the process maps {foreign or 'no BLAS'}, not OpenBLAS")

library = next(path for path in mapped if "libblas" in path or "libopenblas" in path)
get_config = ctypes.CDLL(library).openblas_get_config if "libopenblas" in library else None
if get_config is None:
    # libblas.so.3 of OpenBLAS is a thin library upon libopenblas.so.0.
    get_config = ctypes.CDLL("libopenblas.so.0").openblas_get_config
get_config.restype = ctypes.c_char_p
config = get_config().decode()
if f"OpenBLAS {os.environ['KILN_VERSION']}" not in config:
    sys.exit(f"the library says it is {config}, not {os.environ['KILN_VERSION']}")
print(f"{told} is {config}")
