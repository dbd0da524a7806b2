"""Memory of malloc lies in huge pages in the framework's Python, by the kernel's own account of this process."""
import os
import pathlib
import re
import sys

import process

SETTING = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")

found = re.search(r"\[(\w+)\]", SETTING.read_text(encoding="utf-8")) if SETTING.is_file() else None
setting = found.group(1) if found else "unknown"


def huge_bytes(address):
    """AnonHugePages of the mapping that has the address (proc(5), smaps)."""
    inside = False
    for line in pathlib.Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        place = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if place:
            inside = int(place.group(1), 16) <= address < int(place.group(2), 16)
        elif inside and line.startswith("AnonHugePages:"):
            return int(line.split()[1]) * 1024
    return 0


if "glibc.malloc.hugetlb=1" not in os.environ.get("GLIBC_TUNABLES", "").split(":"):
    sys.exit(f"GLIBC_TUNABLES is '{os.environ.get('GLIBC_TUNABLES', '')}'")
kept = process.tensor()
address = process.block(process.BYTES)
huge = huge_bytes(address + process.BYTES // 2)
if huge < process.BYTES // 2 and setting in ("madvise", "always"):
    sys.exit(f"{huge // process.MIB} MiB of a block of 64 MiB lie in huge pages, and the kernel's setting is {setting}")
proof = f"{huge // process.MIB} MiB of the heap lie in huge pages" if huge else f"not run: the kernel's setting of transparent huge pages is {setting}"
print(f"beside {process.framework() or 'no framework'}: {proof}")
