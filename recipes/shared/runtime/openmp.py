"""For tests of OpenMP runtimes: the preloaded library is the one whose state PyTorch changes."""
import ctypes

import torch

import process

THREADS = 3  # another number than the default of any machine that matters here


def fault_of(name):
    """Why PyTorch's parallel loops do not run in the library of that name; "" where they do."""
    runtime = ctypes.CDLL(process.require_mapped(name))
    torch.set_num_threads(THREADS + 1)
    torch.set_num_threads(THREADS)
    if runtime.omp_get_max_threads() != THREADS:
        return f"PyTorch has {THREADS} threads and {name} has {runtime.omp_get_max_threads()}: PyTorch uses another OpenMP runtime"
    values = torch.arange(1 << 22, dtype=torch.float64)
    if values.sum().item() != (1 << 21) * ((1 << 22) - 1):
        return "a sum in threads is wrong"
    torch.testing.assert_close((values * 2).relu(), values + values)
    return ""
