"""What random worlds are made of: near one another, so that boundaries are hit often."""
import random

import facts


class Dice(random.Random):
    """Choices with words for them."""

    def chance(self, percent):
        return self.random() * 100 < percent

    def some(self, values, least, most):
        return self.sample(values, min(len(values), self.randint(least, most)))


CPUS = {
    "x86_64": ["x86_64", "x86_64_v2", "x86_64_v3", "x86_64_v4", "nocona", "nehalem", "sandybridge", "haswell", "broadwell", "skylake", "skylake_avx512",
               "cascadelake", "icelake", "alderlake", "piledriver", "excavator", "zen", "zen2", "zen3", "zen4", "zen5"],
    "aarch64": ["aarch64", "armv8.1a", "armv8.2a", "armv8.4a", "armv9.0a", "cortex_a72", "neoverse_n1", "neoverse_v1", "neoverse_v2", "neoverse_n2", "a64fx",
                "thunderx2", "ampere1"],
    "power": ["ppc64le", "power8le", "power9le", "power10le", "ppc64", "power8", "power9"],
}
# Alike in all that is asked before the last thing.
NEARLY_ALIKE = {
    "x86_64": [("skylake_avx512", "cannonlake"), ("x86_64_v4", "broadwell"), ("haswell", "piledriver"), ("skylake", "excavator"), ("broadwell", "steamroller")],
    "aarch64": [("armv8.4a", "neoverse_n1"), ("armv8.1a", "cortex_a72"), ("neoverse_v2", "neoverse_n2"), ("neoverse_n2", "ampere1")],
}
CPU_TYPES = {"x86_64": "x86", "aarch64": "arm", "ppc64le": "power", "ppc64": "power"}
FAMILIES_OF_MAPPINGS = ["x86_64", "aarch64", "ppc64le", None]
NVIDIA = ["50", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "89", "90", "100", "101", "103", "110", "120", "121"]
AMD = ["gfx906", "gfx908", "gfx90a", "gfx942", "gfx90c"]
SUFFIXED = {"90": "a", "100": "af", "101": "af", "103": "af", "110": "af", "120": "af", "121": "af"}
EXTRA_FEATURES = {"x86_64": ["avx512f", "avx512vl", "avx2", "fma", "avx", "sse4_2", "bmi2", "amx_tile", "avx512_bf16", "sse4a", "avx512_fp16"],
                  "aarch64": ["sve", "sve2", "asimddp", "bf16", "i8mm", "atomics", "sha3"]}
VERSIONS = ["2.0.1", "2.1", "2.1.0", "2.1.3", "2.1.4rc1", "2.1.10", "2.10", "2.2", "2.2.0", "2.2rc1", "2.2.0b2", "2.3.dev1", "2.1.3a1", "3.0", "3.0.0.post1", "2.1.3.1",
            "20.1", "2.3alpha1", "2.2.0.beta1", "2.2.0pre1"]
DRIVERS = sorted({*facts.TOOLKIT_DRIVER.values(), *facts.LEAST_DRIVER.values(), "450.80.01", "525.60.12", "525.60.2", "579.99.9", "580.1", "570.25", "570.124.06", "535.104.05", "550.54.15", "580.95.05", "600"})
KERNELS = ["2.6.32-754.el6", "3.1.9", "3.2.0-4-amd64", "3.9.99", "3.10.0-1160.el7.x86_64", "4.4.0", "4.18.0-553.el8_10", "5.3.18", "5.4", "5.15.0-91-generic", "6.1.0-18-amd64"]
NEEDED_KERNELS = ["3.2.0", "3.2", "3.10.0", "4.4", "5.4.0"]
GLIBCS = ["2.9", "2.17", "2.28", "2.31", "2.35", "2.39"]
MPIS = ["openmpi@4.1.6", "openmpi@4.0.3", "openmpi@4.1", "openmpi@5.0.1", "openmpi@40.1", "openmpi", "mpich@3.4.3", "mpich", "intel-mpi@2021.9", "cray-mpich@8.1.25", "mvapich2@2.3.7"]
HUGE_PAGES = ["never", "madvise", "always"]
RUNTIMES = [("tcmalloc", "allocator", True), ("jemalloc", "allocator", False), ("llvm-openmp", "openmp", False), ("onednn", "", True)]
VENDORS = ["GenuineIntel", "AuthenticAMD"]
METHODS = ["source", "pip", "distro", "hub"]
COMPILERS = ["xla", "inductor", "tvm", "glow", "ngraph"]
BACKENDS = ["tensorflow", "theano"]
UNITS = ["ms/step", "s", "images/s", "steps/min", "µs/op", "h", "epochs/h", "ns", "bogus", "us", "min/epoch", "images/ms"]
WORKLOADS = ["mnist-cnn", "resnet50", "osu-latency"]


class Theme:
    """What the images of one world have in common."""

    def __init__(self, dice):
        self.dice = dice
        self.kind = dice.choices(["ai", "keras", "mpi", "app"], [55, 8, 17, 20])[0]
        self.application = {"ai": dice.choice(["pytorch", "tensorflow"]), "keras": "keras", "mpi": dice.choice(["openmpi", "mpich"]), "app": "solver"}[self.kind]
        family = dice.choices(["x86_64", "aarch64", "power", ""], [66, 18, 10, 6])[0]
        self.cpus = dice.some(CPUS[family], 3, 7) if family else [dice.choice(CPUS[one]) for one in CPUS for _ in range(2)]
        if family in NEARLY_ALIKE and dice.chance(30):
            self.cpus += dice.choice(NEARLY_ALIKE[family])
        self.gpu_maker = dice.choices(["", "nvidia", "amd", "both"], [28, 57, 8, 7])[0]
        self.two_makers = self.gpu_maker == "both" and dice.chance(50)  # in one image, and every GPU is known
        first = dice.randrange(len(NVIDIA) - 3)
        self.nvidia = NVIDIA[first:first + dice.randint(2, 5)]
        self.amd = dice.some(AMD, 2, 3)
        self.versions = dice.some(VERSIONS, 1, 5)
        self.compilers = dice.some(COMPILERS, 1, 2)
        self.cudas = dice.some(sorted(facts.TOOLKIT_DRIVER), 1, 3)
        self.loose = dice.chance(55)  # much runs and suits, so that preferences decide
        self.measured = dice.chance(45)
        self.scales = [(dice.choice(WORKLOADS), dice.choice(UNITS)) for _ in range(dice.choices([1, 2, 3], [60, 25, 15])[0])]
        self.machines = [self._machine() for _ in range(dice.randint(1, 3))]

    def _machine(self):
        machine = {"cpu": self.dice.choice(self.cpus[:3]), "model": self.dice.choice(["EPYC 7742", "EPYC 7742", "EPYC 9654", ""]), "cores": self.dice.choice([16, 32, 64])}
        if self.gpu_maker and self.dice.chance(80):
            machine["accelerators"] = self.host_gpus()
        return {key: value for key, value in machine.items() if value}

    def makers(self):
        return ["nvidia", "amd"] if self.gpu_maker == "both" else [self.gpu_maker] * bool(self.gpu_maker)

    def host_gpus(self):
        """One or several; of both makers, now and then; or only a maker's name."""
        gpus = []
        for maker in self.makers():
            if self.dice.chance(8) and not self.two_makers:
                gpus.append(maker)
                continue
            names = [f"nvidia:sm_{one}" for one in self.nvidia] if maker == "nvidia" else [f"amd:{one}" for one in self.amd]
            gpus += [self.dice.choice(names) for _ in range(self.dice.choices([1, 2, 3], [60, 30, 10])[0])]
        return gpus

    def targets(self, maker):
        """An image's, of one maker."""
        if self.dice.chance(5) and not self.two_makers:
            return [maker]
        if maker == "amd":
            return [f"amd:{one}" for one in sorted(self.dice.some(self.amd, 1, 2))]
        return [f"nvidia:sm_{self._suffixed(one)}" for one in self.dice.some(self.nvidia, 1, 3)]

    def _suffixed(self, capability):
        return capability + (self.dice.choice(SUFFIXED[capability]) if capability in SUFFIXED and self.dice.chance(30) else "")
