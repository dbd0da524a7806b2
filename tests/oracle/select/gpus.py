"""Which GPU code runs on which GPU, and how well it suits it."""
import functools
import re

# In systems on a chip: TK1, TX1, TX2, Xavier, Orin, T239, Thor (10.1 in CUDA 12, 11.0 in CUDA 13).
TEGRA = {(3, 2), (5, 3), (6, 2), (7, 2), (8, 7), (8, 8), (10, 1), (11, 0)}
EXACT_OWN, EXACT, OLDER, PTX, VENDOR, NOT = range(6)  # best first
IMPOSSIBLE = (NOT, 0)


class Code:
    """One target: sm_80, sm_90a, sm_100f, compute_80 (PTX), gfx90a, or a vendor alone."""

    def __init__(self, text):
        vendor, _, name = text.rpartition(":")
        self.text = text
        found = re.fullmatch(r"(sm|compute)_([0-9]+)([0-9])([af]?)", name)
        self.vendor = vendor or ("nvidia" if found else "amd" if name.startswith("gfx") else name)
        self.name = "" if name == self.vendor else name
        self.ptx, self.suffix, self.capability = False, "", None
        if found:
            self.ptx = found[1] == "compute"
            self.capability = (int(found[2]), int(found[3]))
            self.suffix = found[4]

    def as_ptx(self):
        return code("compute_%d%d" % self.capability)


@functools.cache
def code(text):
    return Code(text)


@functools.cache
def fit(one, gpu):
    """How `one` suits `gpu` (both texts): (class, distance), smaller is better; IMPOSSIBLE where it does not run."""
    one, gpu = code(one), code(gpu)
    if one.vendor != gpu.vendor:
        return IMPOSSIBLE
    if not one.name or not gpu.name:
        return (VENDOR, 0)
    if one.vendor != "nvidia":
        return (EXACT, 0) if one.name == gpu.name else IMPOSSIBLE
    return _fit_nvidia(one, gpu)


def _fit_nvidia(one, gpu):
    (major, minor), (its_major, its_minor) = one.capability, gpu.capability
    same = one.capability == gpu.capability
    apart = not same and bool({one.capability, gpu.capability} & TEGRA)  # no binary compatibility with others
    if one.suffix == "a" and not same or one.suffix == "f" and (major != its_major or apart):
        return IMPOSSIBLE
    if one.ptx:
        distance = 10 * its_major + its_minor - 10 * major - minor
        return (PTX, distance) if distance >= 0 else IMPOSSIBLE
    if same:
        return (EXACT_OWN if one.suffix == "a" else EXACT, 0)
    if major == its_major and minor < its_minor and not apart:
        return (OLDER, its_minor - minor)
    return IMPOSSIBLE


def best_fit(codes, gpu):
    return min((fit(one, gpu) for one in codes), default=IMPOSSIBLE)


def with_ptx(declared):
    """What is declared, and the PTX that kiln adds for the newest of NVIDIA's, unless that is an `a` or `f`."""
    nvidia = [code(one) for one in declared if code(one).capability]
    if not nvidia:
        return list(declared)
    newest = max(nvidia, key=lambda one: (one.capability, one.suffix))
    return list(declared) + ([] if newest.suffix else [newest.as_ptx().text])
