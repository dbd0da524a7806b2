"""The C library answers malloc in the framework's Python, maps no large block by itself, and keeps what was freed.

Seen by what it does, not by the variable: without the settings, a block of 64 MiB is a mapping, and its pages are faulted in each time.
"""
import ctypes
import os
import resource
import sys

import process

COUNTS = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
FEW = 256  # pages; a block of 64 MiB has 16,384 of 4 KiB

libc = ctypes.CDLL(None)
modern = hasattr(libc, "mallinfo2")  # from glibc 2.33


class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t if modern else ctypes.c_int) for name in COUNTS]


def counts():
    ask = libc.mallinfo2 if modern else libc.mallinfo
    ask.restype = Counts
    return ask()


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


told = f"GLIBC_TUNABLES is '{os.environ.get('GLIBC_TUNABLES', '')}'"
kept = process.tensor()
used = counts().uordblks
address = process.block(process.BYTES)
if counts().uordblks + counts().hblkhd - used < process.BYTES:
    sys.exit("the C library does not count a block of malloc: another allocator answers")
if counts().hblks:
    sys.exit(f"{counts().hblks} blocks are mappings of their own; {told}")
process.release(address)
before = faults()
process.release(process.block(process.BYTES))
again = faults() - before
if again > FEW:
    sys.exit(f"a block of 64 MiB that was free before took {again} page faults: its memory went back to the kernel; {told}")
print(f"malloc of glibc {os.confstr('CS_GNU_LIBC_VERSION').split()[-1]} beside {process.framework() or 'no framework'}: "
      f"no block is a mapping, and 64 MiB come back with {again} page faults")
