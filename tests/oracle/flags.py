"""Compiler flags by archspec's Python package (docs/formats/targets.md): what `KILN_CPU_FLAGS`, `CFLAGS` and their kin hold."""
import re
import warnings

import archspec.cpu

from versions import compare

warnings.simplefilter("ignore")  # archspec has some of other makers' processors

LEVELS = {"o0": "0", "o1": "1", "o2": "2", "o3": "3", "os": "s"}
LTO = {"lto": "full", "thinlto": "thin", "nolto": "off"}
PGO = {"pgo-generate": "generate", "pgo-use": "use", "nopgo": "off"}
LLVM = ("clang", "apple-clang", "aocc", "arm", "oneapi", "dpcpp")
WITH_FORTRAN = ("gcc", "intel", "oneapi", "nvhpc", "aocc", "arm")
COMPILER_VARIABLES = ("KILN_CPU_FLAGS", "CFLAGS", "CXXFLAGS", "FFLAGS", "LDFLAGS", "KILN_BAZEL_COPTS", "KILN_BAZEL_LINKOPTS",
                      "KILN_CMAKE_FLAGS", "KILN_NVCC_FLAGS", "NVCC_APPEND_FLAGS", "KILN_HIP_FLAGS")
GPU_VARIABLES = ("KILN_CUDA_ARCHS", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "TF_CUDA_COMPUTE_CAPABILITIES", "PYTORCH_ROCM_ARCH")
LEVEL_FREE = ("KILN_CPU_FLAGS", "NVCC_APPEND_FLAGS")  # of the compiler variables, those that no level, LTO or PGO changes


class Impossible(Exception):
    """The compiler lacks what was asked for."""


class Optimise:
    """Level, LTO, PGO and the folder of profiles; "" is nothing said, "off" is said not to be wanted."""

    def __init__(self, level="", lto="", pgo="", profile=""):
        self.level, self.lto, self.pgo, self.profile = level, lto, pgo, profile

    @staticmethod
    def of_axis(value):
        words = [] if value == "none" else value.split("+")
        pick = lambda table: next((table[word] for word in words if word in table), "")
        return Optimise(pick(LEVELS), pick(LTO), pick(PGO))

    @staticmethod
    def of_method(written):
        lto = {True: "full", False: "off", "thin": "thin", None: ""}[written.get("lto")]
        return Optimise(written.get("level", ""), lto, written.get("pgo", ""), written.get("profile", ""))

    def under(self, cell):
        """The cell goes before the method, part by part."""
        return Optimise(cell.level or self.level, cell.lto or self.lto, cell.pgo or self.pgo, self.profile)

    @property
    def says_nothing(self):
        return not (self.level or self.lto or self.pgo)

    def text(self):
        words = ["o" + (self.level or "2")]
        words += [word for table, value in ((LTO, self.lto), (PGO, self.pgo)) for word in table if table[word] == value and value not in ("", "off")]
        return "+".join(words)


def cpu_flags(cpu, compiler, version):
    """archspec's flags of the nearest ancestor that this compiler knows, and whose they are; None: it knows no such compiler."""
    asked = archspec.cpu.TARGETS[cpu]
    if compiler not in asked.family.compilers:
        return None
    for candidate in [asked, *asked.ancestors]:
        flags = _flags_of(candidate, compiler, version)
        if flags is not None and "=native" not in flags:
            return flags, candidate.name
    return None


def _flags_of(candidate, compiler, version):
    entries = candidate.compilers.get(compiler)
    if entries is None:
        return None
    try:
        return candidate.optimization_flags(compiler, version)
    except archspec.cpu.UnsupportedMicroarchitecture:
        pass
    for entry in entries:  # a gap of the table: a patch release of the lower entry
        least, most = entry["versions"].split(":")
        parts = version.split(".")[:len(most.split("."))]
        number = lambda text: [int(part) for part in re.match(r"[0-9.]*", text)[0].split(".") if part]
        if most and number(".".join(parts)) <= number(most) and number(least) <= number(version):
            return candidate.optimization_flags(compiler, ".".join(parts))
    return None


class Language:
    """One compiler's flags: level, those of the processor, those of LTO and PGO to compile and to link."""

    def __init__(self, cpu, compiler, optimise):
        self.name, self.version = compiler
        found = cpu_flags(cpu, self.name, self.version)
        if found is None:
            raise KeyError(self.name)
        self.cpu, self.target = found
        self.level = "-O" + (optimise.level or "2")
        if optimise.level == "s" and self.name == "nvhpc":
            raise Impossible("nvhpc has no level 's'")
        compile_lto, link_lto = self._lto(optimise.lto)
        compile_pgo, link_pgo = self._pgo(optimise.pgo, optimise.profile)
        self.compile, self.link = _words(compile_lto, compile_pgo), _words(link_lto, link_pgo)

    def _lto(self, lto):
        if lto in ("", "off"):
            return "", ""
        if self.name == "gcc":
            flag = "-flto" if compare(self.version, "10") < 0 else "-flto=auto"
        elif self.name in LLVM:
            flag = "-flto=thin" if lto == "thin" else "-flto"
        elif self.name == "intel":
            flag = "-ipo"
        else:
            raise Impossible(f"kiln knows no link-time optimisation of {self.name}")
        return flag, flag

    def _pgo(self, pgo, folder):
        if pgo in ("", "off"):
            return "", ""
        if self.name == "gcc" and pgo == "use":
            return f"-fprofile-use={folder} -fprofile-correction -Wno-missing-profile", ""
        if self.name == "gcc":
            atomic = "" if compare(self.version, "7") < 0 else "-fprofile-update=prefer-atomic"
            return _words(f"-fprofile-generate={folder}", atomic), f"-fprofile-generate={folder}"
        if self.name in LLVM:
            flag = f"-fprofile-{pgo}={folder}"
        elif self.name == "intel":
            flag = f"-prof-{'use' if pgo == 'use' else 'gen'} -prof-dir={folder}"
        else:
            raise Impossible(f"kiln knows no profile-guided optimisation of {self.name}")
        return flag, flag if pgo == "generate" else ""

    @property
    def all(self):
        return _words(self.level, self.cpu, self.compile)

    @property
    def link_all(self):
        return _words(self.level, self.link) if self.link else ""


class LevelAlone:
    """Fortran beside a Clang where the stage has no GCC."""

    def __init__(self, name, version, level):
        self.name, self.version, self.level = name, version, level
        self.cpu = self.compile = self.link = self.target = ""
        self.all = level


class Flags:
    """Every compiler variable, of one compiler and target."""

    def __init__(self, target, compiler, gcc, optimise):
        self.target, self.c = target, Language(target.cpu, compiler, optimise)
        self.fortran = self._fortran(gcc, optimise)

    def _fortran(self, gcc, optimise):
        if self.c.name in WITH_FORTRAN:
            return self.c
        if gcc is not None:
            try:
                return Language(self.target.cpu, gcc, Optimise(optimise.level))
            except KeyError:
                pass
        return LevelAlone(self.c.name, self.c.version, self.c.level)

    def language(self, variable):
        return self.fortran if variable == "FFLAGS" else self.c

    def value(self, variable):
        c = self.c
        values = {
            "KILN_CPU_FLAGS": c.cpu,
            "FFLAGS": self.fortran.all,
            "LDFLAGS": c.link_all,
            "KILN_BAZEL_COPTS": _each("--copt=", _words("" if c.level == "-O2" else c.level, c.cpu, c.compile)),
            "KILN_BAZEL_LINKOPTS": _each("--linkopt=", c.link_all),
            "KILN_CMAKE_FLAGS": self._cmake(),
            "KILN_NVCC_FLAGS": _words(self._nvcc_level, self._gencode(), self._nvcc_host) if self._gencode() else "",
            "NVCC_APPEND_FLAGS": self._nvcc_host,
            "KILN_HIP_FLAGS": _words(c.level, _each("--offload-arch=", " ".join(amd(self.target))), self._hip_host) if amd(self.target) else "",
        }
        return values.get(variable, c.all)

    @property
    def _nvcc_level(self):
        return "-Xcompiler=-Os" if self.c.level == "-Os" else self.c.level

    @property
    def _nvcc_host(self):
        return _each("-Xcompiler=", self.c.cpu) if nvidia(self.target) else ""

    @property
    def _hip_host(self):
        return _each("-Xarch_host ", self.c.cpu) if self.c.name in LLVM else ""

    def _gencode(self):
        words = [f"-gencode=arch=compute_{one},code=sm_{one}" for one in nvidia(self.target)]
        words += [f"-gencode=arch=compute_{one},code=compute_{one}" for one in nvidia(self.target)[-1:]]
        return " ".join(words)

    def _cmake(self):
        found = [("CMAKE_BUILD_TYPE", "Release")]
        for name, language in (("C", self.c), ("CXX", self.c), ("Fortran", self.fortran)):
            found.append((f"CMAKE_{name}_FLAGS", _words(language.cpu, language.compile)))
            found.append((f"CMAKE_{name}_FLAGS_RELEASE", language.level + ("" if name == "Fortran" else " -DNDEBUG")))
        found += [(f"CMAKE_{kind}_LINKER_FLAGS", self.c.link_all) for kind in ("EXE", "SHARED", "MODULE")]
        if nvidia(self.target):
            found += [("CMAKE_CUDA_ARCHITECTURES", gpu_value("CUDAARCHS", self.target)), ("CMAKE_CUDA_FLAGS", self._nvcc_host),
                      ("CMAKE_CUDA_FLAGS_RELEASE", self._nvcc_level + " -DNDEBUG")]
        if amd(self.target):
            found += [("CMAKE_HIP_ARCHITECTURES", ";".join(amd(self.target))), ("CMAKE_HIP_FLAGS", self._hip_host),
                      ("CMAKE_HIP_FLAGS_RELEASE", self.c.level + " -DNDEBUG")]
        quoted = lambda value: f"'{value}'" if " " in value or ";" in value else value
        return " ".join(f"-D{name}={quoted(value)}" for name, value in found if value)


def nvidia(target):
    """Compute capabilities without dots, oldest first: 80, 90a."""
    found = {one.removeprefix("nvidia:sm_") for one in target.accelerators if one.startswith("nvidia:sm_")}
    return sorted(found, key=lambda one: (int(re.match("[0-9]+", one)[0]), one))


def amd(target):
    return sorted(one.removeprefix("amd:") for one in target.accelerators if one.startswith("amd:"))


def gpu_value(variable, target):
    """Machine code for each GPU, and PTX for the newest."""
    if variable == "PYTORCH_ROCM_ARCH":
        return ";".join(amd(target))
    found = nvidia(target)
    newest = found[-1] if found else None
    if variable == "CUDAARCHS":
        return ";".join(one if one == newest else f"{one}-real" for one in found)
    if variable == "TF_CUDA_COMPUTE_CAPABILITIES":
        return ",".join(f"{'compute' if one == newest else 'sm'}_{one}" for one in found)
    dotted = lambda one: re.sub(r"([0-9])([a-z]*)$", r".\1\2", one)
    return ";".join(dotted(one) + ("+PTX" if one == newest else "") for one in found)


def _words(*parts):
    return " ".join(part for part in parts if part)


def _each(prefix, flags):
    return " ".join(prefix + word for word in flags.split())
