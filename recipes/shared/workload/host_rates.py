"""What a host can do, as an image's PyTorch finds it: STREAM's triad, copying, matrix products in single and double precision, a disk.

PyTorch, because images have no compiler for STREAM's own program, and NumPy has no triad in one pass, nor in threads: torch.add with a factor is
one, and torch.mm is the image's BLAS. So the rates are what code of that image reaches there. Works under Python 2.7 and 3.
"""
import ctypes
import os

import harness
from harness import Wrong, now

STEPS = 10
ORDER = 2048  # of the matrices
SMALLEST = 32 << 20  # bytes of one array of the triad, where the caches are small
DISK_BYTES = 256 << 20
MEMORY_TYPES = ("tmpfs", "ramfs", "devtmpfs")


def cache_bytes(folder="/sys/devices/system/cpu/cpu0/cache"):
    """The largest cache of the first processor; 0 where the kernel does not say."""
    sizes = [0]
    for index in os.listdir(folder) if os.path.isdir(folder) else []:
        try:
            with open(os.path.join(folder, index, "size")) as file:
                text = file.read().strip()
        except (IOError, OSError):
            continue
        unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 0)
        if unit and text[:-1].isdigit():
            sizes.append(int(text[:-1]) * unit)
    return max(sizes)


def free_bytes(meminfo="/proc/meminfo", limit="/sys/fs/cgroup/memory.max"):
    """What the kernel has to give, and no more than the control group may have."""
    free = None
    with open(meminfo) as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    if free is None:
        raise Wrong("%s has no MemAvailable" % meminfo)
    if os.path.exists(limit):
        with open(limit) as file:
            text = file.read().strip()
        if text.isdigit():
            free = min(free, int(text))
    return free


def array_length(caches, free):
    """Numbers of 8 bytes in one array: four times the caches, as STREAM demands, if three of them fill no more than half of what is free."""
    wanted = max(SMALLEST, 4 * caches)
    if 3 * wanted > free // 2:
        raise Wrong("the triad needs %d bytes for caches of %d, and %d are free" % (3 * wanted, caches, free))
    return wanted // 8


def rate(unit, amount, step, steps, clock=now):
    """Of `amount` bytes or operations a step, in thousands of millions."""
    _, times, _ = harness.timed(step, steps, clock)
    return {"unit": unit, "samples": [round(amount / milliseconds / 1e6, 4) for milliseconds in times]}


def memory_rates(torch, length, steps):
    b = torch.full((length,), 2.0, dtype=torch.float64)
    c = torch.full((length,), 0.5, dtype=torch.float64)
    a = torch.zeros(length, dtype=torch.float64)
    found = {"triad": rate("GB/s", 24 * length, lambda number: torch.add(b, c, alpha=3.0, out=a) is None, steps)}
    if float(a.min()) != 3.5 or float(a.max()) != 3.5:
        raise Wrong("the triad's sums are from %r to %r, not 3.5" % (float(a.min()), float(a.max())))
    found["copy"] = rate("GB/s", 16 * length, lambda number: a.copy_(b) is None, steps)
    if float(a.min()) != 2.0 or float(a.max()) != 2.0:
        raise Wrong("the copy is another array")
    return found


def product_rates(torch, steps):
    found = {}
    for name, kind, tolerance in (("sgemm", torch.float32, 1e-3), ("dgemm", torch.float64, 1e-10)):
        torch.manual_seed(0)
        a, b = torch.rand(ORDER, ORDER, dtype=kind), torch.rand(ORDER, ORDER, dtype=kind)
        c = torch.empty(ORDER, ORDER, dtype=kind)
        found[name] = rate("GFLOP/s", 2 * ORDER ** 3, lambda number: torch.mm(a, b, out=c) is None, steps)
        last = float((a[-1].double() * b[:, -1].double()).sum())
        harness.check_close("the last number of the %s" % name, float(c[-1, -1]), last, tolerance)
    return found


def file_system(folder, mounts="/proc/self/mounts"):
    """The type of what is mounted where `folder` lies: the longest mount point above it; of equal ones the last."""
    best, kind = "", ""
    path = os.path.realpath(folder)
    with open(mounts) as file:
        for line in file:
            words = line.split()
            point = words[1].replace("\\040", " ")
            if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best):
                best, kind = point, words[2]
    return kind


def disk_rates(folder, steps, size=DISK_BYTES):
    """Writing a file up to its fsync, and reading it when the kernel has been asked to forget it (posix_fadvise(2)). The file is removed."""
    library, forget = ctypes.CDLL("libc.so.6"), 4  # POSIX_FADV_DONTNEED
    library.posix_fadvise.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    path = os.path.join(folder, "kiln-host-rates-%d" % os.getpid())
    piece = os.urandom(1 << 20)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Wrong("cannot measure the disk at %s: %s" % (folder, error))

    def write(number):
        os.lseek(descriptor, 0, os.SEEK_SET)
        for _ in range(size // len(piece)):
            if os.write(descriptor, piece) != len(piece):
                raise Wrong("%s takes no more" % path)
        os.fsync(descriptor)

    def read(number):
        os.lseek(descriptor, 0, os.SEEK_SET)
        library.posix_fadvise(descriptor, 0, 0, forget)
        left = size
        while left > 0:
            data = os.read(descriptor, 1 << 20)
            if not data:
                raise Wrong("%s has lost %d bytes" % (path, left))
            left -= len(data)

    try:
        return {"disk_write": rate("GB/s", size, write, steps), "disk_read": rate("GB/s", size, read, steps)}
    except OSError as error:
        raise Wrong("cannot measure the disk at %s: %s" % (folder, error))
    finally:
        os.close(descriptor)
        os.remove(path)


def main():
    import torch

    settings = harness.Settings(os.environ, STEPS)
    torch.set_num_threads(settings.threads)
    caches = cache_bytes()
    length = array_length(caches, free_bytes())
    rates = memory_rates(torch, length, settings.steps)
    rates.update(product_rates(torch, settings.steps))
    folder = os.environ.get("TMPDIR") or "/var/tmp"  # the workload's own folder and its data are not to be written to
    kind = file_system(folder)
    if kind not in MEMORY_TYPES:  # memory is no disk
        rates.update(disk_rates(folder, settings.steps))
    harness.report({
        "unit": rates["triad"]["unit"], "samples": rates["triad"]["samples"], "rates": rates, "array_bytes": 8 * length, "cache_bytes": caches, "order": ORDER,
        "file_system": kind, "threads": settings.threads, "framework": "pytorch " + torch.__version__.split("+")[0],
        "result": {"what": "sums and products are right", "ok": True, "value": 1, "expected": 1},
    })


if __name__ == "__main__":
    harness.run(main)
