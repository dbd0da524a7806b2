"""For tests of runtime components: which libraries this process has, and a framework's own work in memory."""
import ctypes
import importlib.util
import os
import sys

MIB = 1 << 20
BYTES = 64 * MIB  # of a tensor that a framework makes: more than an allocator keeps at hand
TENSORS = 4


def require_mapped(name):
    """The file of the library of that name, whose pages this process has; ends the test where there is none."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/")}
    found = sorted(path for path in paths if os.path.basename(path).startswith(name))
    if not found:
        sys.exit(f"no {name} is mapped in this process: LD_PRELOAD is '{os.environ.get('LD_PRELOAD', '')}'")
    return found[0]


def _torch():
    import torch
    return torch.ones(BYTES // 4, dtype=torch.float32)


def _tensorflow():
    import tensorflow
    return tensorflow.random.uniform([BYTES // 4])  # of ones, eager TensorFlow keeps the first


def _jax():
    import jax.numpy
    return jax.numpy.ones(BYTES // 4, jax.numpy.float32).block_until_ready()


def _onnxruntime():
    import numpy
    import onnxruntime
    return onnxruntime.OrtValue.ortvalue_from_shape_and_type([BYTES // 4], numpy.float32, "cpu")


def _numpy():
    import numpy
    return numpy.ones(BYTES // 4, numpy.float32)


_MAKERS = {"torch": _torch, "tensorflow": _tensorflow, "jax": _jax, "onnxruntime": _onnxruntime, "numpy": _numpy}


def framework():
    """The Python module of the image's framework, else NumPy, else ""."""
    return next((name for name in _MAKERS if importlib.util.find_spec(name)), "")


def tensor():
    """A tensor of BYTES by that module; plain memory of the C library's malloc where there is none."""
    maker = _MAKERS.get(framework())
    return maker() if maker else block(BYTES)


def block(size):
    """Memory of malloc, written to; free it by `release`."""
    process = ctypes.CDLL(None)
    process.malloc.restype = ctypes.c_void_p
    process.malloc.argtypes = [ctypes.c_size_t]
    address = process.malloc(size)
    if not address:
        sys.exit(f"malloc has no {size} bytes")
    ctypes.memset(address, 1, size)
    return address


def release(address):
    process = ctypes.CDLL(None)
    process.free.argtypes = [ctypes.c_void_p]
    process.free(address)


def require_counted(counter, name):
    """Ends the test unless the allocator's own count of bytes rises by those of a framework's tensors. Returns what it did, in words.

    Of several, because TensorFlow frees what an operation needed beside its result later: with the next tensor the count rose by twice
    its bytes, or not at all.
    """
    tensor()  # imports, and makes what is made once
    before = counter()
    kept = [tensor() for _ in range(TENSORS)]
    rise = counter() - before
    if rise < (TENSORS - 1) * BYTES * 9 // 10:
        sys.exit(f"{name} counted {rise} bytes while {framework() or 'malloc'} made {TENSORS} tensors of {BYTES}")
    del kept
    return f"{name} counted {rise // MIB} MiB for {TENSORS} tensors of {BYTES // MIB} MiB of {framework() or 'malloc'}"
