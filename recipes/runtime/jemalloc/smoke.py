"""jemalloc answers malloc in the framework's Python, has the right version and the image's settings, and counts the framework's tensors."""
import ctypes
import os
import sys

import process

process.require_mapped("libjemalloc")
jemalloc = ctypes.CDLL(None)


def ask(name, value):
    size = ctypes.c_size_t(ctypes.sizeof(value))
    if jemalloc.mallctl(name.encode(), ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
        sys.exit(f"jemalloc does not answer {name}")
    return value.value


version = ask("version", ctypes.c_char_p()).decode()
if version.split("-")[0] != os.environ["KILN_VERSION"]:
    sys.exit(f"the library says it is {version}, not {os.environ['KILN_VERSION']}")
for setting in ("opt.dirty_decay_ms", "opt.muzzy_decay_ms"):
    if ask(setting, ctypes.c_ssize_t()) != -1:
        sys.exit(f"{setting} is not -1: MALLOC_CONF is '{os.environ.get('MALLOC_CONF', '')}'")


def allocated():
    # The statistics are those of the last epoch; writing a number begins another.
    epoch = ctypes.c_uint64(1)
    jemalloc.mallctl(b"epoch", None, None, ctypes.byref(epoch), ctypes.c_size_t(ctypes.sizeof(epoch)))
    return ask("stats.allocated", ctypes.c_size_t())


print(process.require_counted(allocated, f"jemalloc {version.split('-')[0]}"))
