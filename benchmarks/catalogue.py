#!/usr/bin/env python3
"""Writes a synthetic catalogue of the shape that sites have: recipes and a matrix.

    catalogue.py DIR CELLS        CELLS is 1000, 10000 or 100000

DIR/matrix/bench.json asks for exactly CELLS images: 10 frameworks x versions x methods x libraries x graph compilers x
targets x bases in two groups; excludes and constraints take a fifth of the combinations away. An image has about ten
steps and three tests; toolchains and the beginnings of images are shared, source builds have a stage of their own.
"""
import json
import pathlib
import sys

# versions, methods, targets, bases; 10 frameworks and 20 pairs of library and compiler go with each
SIZES = {1000: (1, 1, 5, 1), 10000: (5, 2, 5, 1), 100000: (5, 2, 25, 2)}
CPUS = ["x86_64_v2", "x86_64_v3", "x86_64_v4", "zen3", "icelake"]
GPUS = ["", ",nvidia:sm_70", ",nvidia:sm_80", ",nvidia:sm_90", ",amd:gfx90a"]
FRAMEWORKS = ["framework%d" % i for i in range(10)]
LIBRARIES = ["none", "blas0", "blas1", "blas2", "blas3"]
COMPILERS = ["none", "graph0", "graph1", "graph2", "graph3"]
VERSIONS = ["%d.%d.0" % (2 + i // 3, i % 3) for i in range(5, 0, -1)]


def write_recipe(root, kind, name, recipe, scripts):
    folder = root / "recipes" / kind / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.json").write_text(json.dumps(recipe, indent=2) + "\n")
    for script in scripts:
        (folder / script).write_text("# %s/%s: %s\n" % (kind, name, script) + "echo \"$KILN_VERSION\"\n" * 20)


def write_shared(root):
    write_recipe(root, "base", "debian", {
        "description": "Debian", "licenses": "MIT",
        "versions": {"trixie": {"facts": {"suite": "trixie"}}, "bookworm": {"facts": {"suite": "bookworm"}}},
        "methods": {"distro": {"rootfs": "rootfs.sh", "parameters": ["KILN_VERSION"]}}}, ["rootfs.sh"])
    write_recipe(root, "toolchain", "gcc", {
        "description": "GCC", "licenses": "GPL-3.0-or-later",
        "versions": {"12.2": {"facts": {"compiler": "gcc", "compiler_version": "12.2"}}},
        "methods": {"distro": {"script": "distro.sh", "parameters": ["KILN_VERSION"]}}}, ["distro.sh"])
    for name, version in (("python", "3.13"), ("cmake", "3.31")):
        write_recipe(root, "toolchain", name, {
            "description": name, "licenses": "MIT", "versions": {version: {}},
            "methods": {"distro": {"script": "distro.sh", "parameters": ["KILN_VERSION"]}}}, ["distro.sh"])


def tools(*names):
    return [{"kind": "toolchain", "name": name} for name in names]


def write_frameworks(root):
    for name in FRAMEWORKS:
        write_recipe(root, "framework", name, {
            "description": "The framework " + name, "licenses": "Apache-2.0", "homepage": "https://example.org/" + name,
            "versions": {version: {
                "facts": {"python": "3.13"},
                "source": {"url": "https://example.org/%s/%s" % (name, version), "checksum": "git:" + "0" * 40}}
                for version in VERSIONS},
            "methods": {
                "pip": {"script": "pip.sh", "files": ["requirements.txt"], "needs": tools("python"),
                        "parameters": ["KILN_VERSION", "KILN_METHOD", "KILN_PREFIX", "KILN_CPU_TARGET", "KILN_GPU_TARGETS"]},
                "source": {"optimised": True, "script": "install.sh", "needs": tools("python"),
                           "parameters": ["KILN_VERSION", "KILN_METHOD", "KILN_PREFIX", "KILN_SOURCE_URL",
                                          "KILN_SOURCE_CHECKSUM", "KILN_CPU_TARGET", "KILN_CUDA_ARCHS", "CFLAGS", "CXXFLAGS"],
                           "build": {"needs": tools("gcc", "cmake", "python"), "script": "build.sh", "copy": ["/opt/kiln/" + name]},
                           "environment": {"PATH": "/opt/kiln/%s/bin:/usr/bin:/bin" % name}}},
            "test": {"script": "smoke.sh", "files": ["smoke.py"]}},
            ["pip.sh", "requirements.txt", "install.sh", "build.sh", "smoke.sh", "smoke.py"])


def write_parts(root):
    for name in LIBRARIES[1:]:
        write_recipe(root, "library", name, {
            "description": "The library " + name, "licenses": "BSD-3-Clause", "versions": {"0.3.29": {}},
            "methods": {"source": {"optimised": True, "after": ["framework"], "parameters": ["KILN_VERSION", "KILN_PREFIX", "CFLAGS"],
                                   "build": {"needs": tools("gcc", "cmake"), "script": "build.sh", "copy": ["/opt/kiln/" + name]},
                                   "environment": {"KILN_BENCH_" + name.upper(): "1"}}},
            "test": {"script": "smoke.sh"}}, ["build.sh", "smoke.sh"])
    for name in COMPILERS[1:]:
        write_recipe(root, "compiler", name, {
            "description": "The graph compiler " + name, "licenses": "MIT", "versions": {"1.2.3": {}},
            "methods": {"pip": {"script": "pip.sh", "needs": tools("gcc", "python"),
                                "parameters": ["KILN_VERSION", "KILN_FRAMEWORK_NAME", "KILN_FRAMEWORK_VERSION", "KILN_CPU_TARGET"]}},
            "test": {"script": "smoke.sh", "files": ["smoke.py"]}}, ["pip.sh", "smoke.sh", "smoke.py"])


def group(name, frameworks, size):
    versions, methods, targets, bases = size
    return {
        "name": name,
        "axes": {
            "framework": frameworks,
            "version": VERSIONS[:versions],
            "method": ["pip", "source"][-methods:],
            "library": LIBRARIES,
            "compiler": COMPILERS,
            "base": ["debian@trixie", "debian@bookworm"][:bases],
            "target": [cpu + gpu for gpu in GPUS for cpu in CPUS][:targets],
        },
        "exclude": [{"library": "blas%d" % i, "compiler": "graph%d" % i} for i in range(3)],
    }


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit() or int(sys.argv[2]) not in SIZES:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    size = SIZES[int(sys.argv[2])]
    write_shared(root)
    write_frameworks(root)
    write_parts(root)
    matrix = {
        "name": "bench",
        "groups": [group("first", FRAMEWORKS[:5], size), group("second", FRAMEWORKS[5:], size)],
        "constraints": [
            {"if": {"compiler": "graph3"}, "forbid": {"library": "blas3"}, "reason": "graph3 brings a BLAS of its own"},
            {"if": {"library": "none"}, "forbid": {"compiler": "graph0"}, "reason": "graph0 needs a BLAS"},
        ],
    }
    (root / "matrix").mkdir(parents=True, exist_ok=True)
    (root / "matrix" / "bench.json").write_text(json.dumps(matrix, indent=2) + "\n")


main()
