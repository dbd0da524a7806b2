"""What the oracle knows of processors (archspec's Python package), GPUs and CUDA's drivers."""
import functools
import pathlib
import re
import sys
import warnings

import archspec.cpu

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from versions import compare  # noqa: E402  of the other oracle, which shares no code with kiln either

warnings.simplefilter("ignore")  # archspec has some of other makers' processors

NOT_ASKED_FOR = {"rdrand", "rdseed", "pku", "flush_l1d",
                 "rng", "dgh", "dit", "flagm2", "bti", "ssbs", "sb", "dcpop", "dcpodp", "cpuid", "ecv", "wfxt", "ls64", "evtstrm"}
# Arm Architecture Reference Manual: what a version has for compilers, where archspec lists nothing.
ARM_VERSIONS = {"aarch64": "fp asimd", "armv8.1a": "crc32 atomics asimdrdm", "armv8.3a": "jscvt fcma lrcpc paca pacg",
                "armv8.4a": "asimddp flagm uscat ilrcpc", "armv8.5a": "frint", "armv8.6a": "bf16 i8mm", "armv9.0a": "fphp asimdhp sve sve2"}
MPI_FAMILY = {"mpich": "mpich", "intel-mpi": "mpich", "cray-mpich": "mpich", "mvapich2": "mpich", "openmpi": "openmpi"}

# NVIDIA, CUDA Toolkit Release Notes: the Linux driver that the first release of each minor version came with, whose PTX all of them write.
TOOLKIT_DRIVER = {
    "11.2": "460.27.03", "11.4": "470.42.01", "11.8": "520.61.05", "12.0": "525.60.13", "12.2": "535.54.03", "12.4": "550.54.14",
    "12.8": "570.26", "12.9": "575.51.03", "13.0": "580.65.06", "13.1": "590.44.01",
}
# NVIDIA, CUDA Compatibility: the least driver by minor-version compatibility.
LEAST_DRIVER = {"11": "450.80.02", "12": "525.60.13", "13": "580"}


def least_driver(cuda):
    return LEAST_DRIVER[cuda.split(".")[0]]


def toolkit_driver(cuda):
    return TOOLKIT_DRIVER[".".join(cuda.split(".")[:2])]


class Processor:
    """A microarchitecture as archspec has it."""

    def __init__(self, target):
        self.name, self.vendor, self.family = target.name, target.vendor, target.family.name
        self.ancestors = {one.name for one in target.ancestors}
        self.line = self.ancestors | {self.name}
        self.features = set(target.features)
        self.needs = self.features - NOT_ASKED_FOR
        self.level = max([level for level in (2, 3, 4) if f"x86_64_v{level}" in self.line], default=1)
        self.shared = 0  # on Arm, how much of a processor its code makes use of
        if self.family == "aarch64":
            used = self.needs.union(*(words.split() for name, words in ARM_VERSIONS.items() if name in self.line))
            self.level = 3 if "sve2" in used else 2 if "sve" in used else 1
            self.shared = len(used)
        self.generic = self.vendor == "generic"


@functools.cache
def processor(name):
    return Processor(archspec.cpu.TARGETS[name])


@functools.cache
def processors():
    return [processor(name) for name in archspec.cpu.TARGETS]


@functools.cache
def best_known(cpu, vendor, features):
    """The most specific processor of a vendor that descends from a generic one and lacks nothing of these features."""
    able = [one for one in processors() if one.vendor == vendor and cpu in one.ancestors and one.needs <= features]
    return min(able, key=lambda one: (-len(one.ancestors), -len(one.needs), one.name), default=processor(cpu))


def with_aliases(features):
    """/proc/cpuinfo calls sse3 pni; who has ssse3 has sse3."""
    return frozenset(features) | ({"sse3"} if {"pni", "ssse3"} & set(features) else frozenset())


def older(a, b):
    """Whether version `a` is older than `b`, number by number; what is not a number ends it."""
    return _numbers(a) < _numbers(b)


@functools.cache
def _numbers(text):
    found = [int(one) for one in re.match(r"[0-9]+(\.[0-9]+)*", text)[0].split(".")]
    while found and found[-1] == 0:
        found.pop()
    return found


def is_prerelease(version):
    return bool(set(re.findall("[a-z]+", version.lower())) & {"a", "b", "rc", "dev", "alpha", "beta", "pre"})


newest_first = functools.cmp_to_key(lambda a, b: compare(b, a))
oldest_first = functools.cmp_to_key(compare)
