"""mimalloc answers malloc in the framework's Python, has the right version, and counts the framework's tensors."""
import ctypes
import os
import sys

import process

process.require_mapped("libmimalloc")
mimalloc = ctypes.CDLL(None)
number = mimalloc.mi_version()  # 3.0.1 is 301
version = f"{number // 100}.{number // 10 % 10}.{number % 10}"
if version != os.environ["KILN_VERSION"]:
    sys.exit(f"the library says it is {version}, not {os.environ['KILN_VERSION']}")

address = process.block(process.MIB)
mimalloc.mi_is_in_heap_region.restype = ctypes.c_bool
mimalloc.mi_is_in_heap_region.argtypes = [ctypes.c_void_p]
if not mimalloc.mi_is_in_heap_region(address):
    sys.exit("memory of malloc is in no heap of mimalloc")
process.release(address)


def committed():
    values = [ctypes.c_size_t() for _ in range(8)]
    mimalloc.mi_process_info(*(ctypes.byref(value) for value in values))
    return values[5].value


print(process.require_counted(committed, f"mimalloc {version}"))
