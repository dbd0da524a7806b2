"""Prints what the archspec package answers, one tab separated line each, for microarchitecture_archspec_test.cc."""
import io
import itertools
import pathlib
import warnings

import archspec
import archspec.cpu
from archspec.cpu import detect
from archspec.cpu.schema import TARGETS_JSON

# Of the table in memory only the file's part: archspec adds the machine that it runs on.
TARGETS = {name: archspec.cpu.TARGETS[name] for name in TARGETS_JSON["microarchitectures"]}
VERSIONS = """4.1.2 4.2 4.8.5 4.9 5 5.0.1 6.9.1 7.3.1 8.0 8.0.1 9.4.0 10.2 10.2.1 10.0.99.1 11 11.3.0 12.2 12.2.0 12.3
    13.2 14.0.2 14.2 15 15.9.1 16.0 17.0.6 17.9.5 18 19.1 20.5 021.11 2021.2 2021.2.0 2024.0
    99999999999999999999999 0""".split()
ILL_FORMED = ["", ".", "12.", ".12", "12..2", "12.2-14", "trunk", "12,2", " 12", "-1"]


def flags():
    compilers = sorted({c for cpu in TARGETS.values() for c in cpu.compilers} | {"fj", "rocmcc", "no-such-compiler"})
    for name, compiler, version in itertools.product(TARGETS, compilers, VERSIONS + ILL_FORMED):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                kind, text = "flags", TARGETS[name].optimization_flags(compiler, version)
                if compiler not in TARGETS[name].family.compilers:
                    kind = "unknown_compiler"
            except archspec.cpu.UnsupportedMicroarchitecture as error:
                kind, text = "unsupported", str(error)
            except archspec.cpu.InvalidCompilerVersion as error:
                kind, text = "invalid_version", str(error)
        print("flags", name, compiler, version, kind, text, " ".join(str(w.message) for w in caught), sep="\t")


def relations():
    for a, b in itertools.product(TARGETS, TARGETS):
        print("runs", a, b, int(TARGETS[a] >= TARGETS[b]), sep="\t")
    features = {f for cpu in TARGETS.values() for f in cpu.features} | set(archspec.cpu.Microarchitecture.feature_aliases)
    for name, cpu in TARGETS.items():
        print("family", name, str(cpu.family), sep="\t")
        print("ancestors", name, " ".join(str(a) for a in cpu.ancestors), sep="\t")
        for feature in sorted(features) + ["no_such_feature"]:
            print("feature", name, feature, int(feature in cpu), sep="\t")


def detected(text, machine):
    detect.open = lambda _: io.StringIO(text)
    detect._machine = lambda: machine
    detect.host.cache_clear()
    return str(detect.host())


def without(text, feature):
    """The text with one feature switched off."""
    return "\n".join(
        " ".join(w for w in line.split() if w != feature) if line.lower().startswith(("flags", "features")) else line
        for line in text.split("\n")
    )


def detections():
    folder = pathlib.Path(archspec.__file__).parent / "json" / "tests" / "targets"
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(("linux-", "bgq-")):
            continue
        text = path.read_text()
        for machine in ["x86_64", "aarch64", "ppc64le", "ppc64", "riscv64", "i686"]:
            print("detect", path.name, machine, "", detected(text, machine), sep="\t")
        # What the processors of the sample's family have is what can change the answer.
        family = TARGETS[path.name.split("-")[2]].family
        for feature in sorted({f for cpu in TARGETS.values() if cpu.family == family for f in cpu.features}):
            print("detect", path.name, str(family), feature, detected(without(text, feature), str(family)), sep="\t")


flags()
relations()
detections()
