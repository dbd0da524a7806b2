"""tcmalloc answers malloc in the framework's Python, has the right version, and counts the framework's tensors."""
import ctypes
import os
import sys

import process

process.require_mapped("libtcmalloc")
tcmalloc = ctypes.CDLL(None)
tcmalloc.tc_version.restype = ctypes.c_char_p
version = tcmalloc.tc_version(None, None, None).decode()
if version.split()[-1] != os.environ["KILN_VERSION"]:
    sys.exit(f"the library says it is {version}, not {os.environ['KILN_VERSION']}")


def allocated():
    value = ctypes.c_size_t()
    if not tcmalloc.MallocExtension_GetNumericProperty(b"generic.current_allocated_bytes", ctypes.byref(value)):
        sys.exit("tcmalloc does not count what it allocates")
    return value.value


print(process.require_counted(allocated, version))
