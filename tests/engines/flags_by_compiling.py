"""Every microarchitecture's flags, taken by the real compilers. Run by flags_test.sh with the program kiln as the
first argument and an empty folder as the second.

For each compiler and each x86-64 microarchitecture of archspec's tables kiln is asked for the flags; the compiler has
to take them without a warning, in C, C++ and (GCC) Fortran. archspec itself says when there should be a note: exactly
when it has no answer for the target and an ancestor, or an upper bound read as its patch releases, answered instead.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import archspec.cpu

KILN = sys.argv[1]
WORK = pathlib.Path(sys.argv[2])
COMPILERS = ["gcc-11", "gcc-12", "clang-13", "clang-14", "clang-15", "clang-16"]
PROFILE = "/opt/kiln/profile/name"  # what kiln calls it without a recipe

# Loops that vectorise and a builtin or two, so that the assembler sees the new instructions, too.
SOURCES = {
    "a.c": """
void axpy(int n, double a, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}
int bits(unsigned long long x) { return __builtin_popcountll(x) + __builtin_clzll(x | 1); }
""",
    "a.cc": """
template <typename T> T sum(const T *x, int n) { T s = 0; for (int i = 0; i < n; ++i) s += x[i] * x[i]; return s; }
template int sum(const int *, int);
float norm(const float *x, int n) { return sum(x, n); }
""",
    "a.f90": """
subroutine axpy(n, a, x, y)
  integer, intent(in) :: n
  real(8), intent(in) :: a, x(n)
  real(8), intent(inout) :: y(n)
  y = y + a * x
end subroutine
""",
    "main.c": """
void axpy(int n, double a, const double *restrict x, double *restrict y);
int bits(unsigned long long x);
int main(void) {
  double x[64], y[64];
  for (int i = 0; i < 64; ++i) { x[i] = i; y[i] = 1; }
  axpy(64, 2.0, x, y);
  return y[63] == 127.0 && bits(7) > 3 ? 0 : 1;
}
""",
}

problems = []


def check(holds, what):
    if not holds:
        problems.append(what)


def kiln_flags(compiler, version, *more):
    command = [KILN, "show", "--flags", "--format", "json", "--compiler", f"{compiler}@{version}", *more]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def values(answer):
    return {flag["variable"]: flag["value"] for flag in answer["flags"]}


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def version_of(program):
    if program.startswith("gcc"):
        return subprocess.check_output([program, "-dumpfullversion"], text=True).strip()
    return re.search(r"version (\d+\.\d+\.\d+)", subprocess.check_output([program, "--version"], text=True)).group(1)


def archspec_answer(name, compiler, version):
    """archspec's flags, or None where it refuses."""
    try:
        return archspec.cpu.TARGETS[name].optimization_flags(compiler, version) or None
    except archspec.cpu.UnsupportedMicroarchitecture:
        return None


def expected(name, compiler, version):
    """Who has to answer, and whether that takes a note: 'none', 'gap' or 'ancestor'."""
    series = version.rsplit(".", 1)[0]
    for candidate in [name] + [ancestor.name for ancestor in archspec.cpu.TARGETS[name].ancestors]:
        exact = archspec_answer(candidate, compiler, version)
        if exact or archspec_answer(candidate, compiler, series):
            return candidate, "ancestor" if candidate != name else "none" if exact else "gap"
    raise AssertionError(f"archspec has nothing for {name} with {compiler} {version}")


def check_note(answer, program, counts):
    name, compiler, version = answer["cpu"], answer["compiler"], answer["version"]
    who = f"{name} with {program} {version}"
    target, note = expected(name, compiler, version)
    counts[note] += 1
    check(answer["answered"] == target, f"{who}: {answer['answered']} answered, expected {target}")
    check(("flags of" in answer["note"]) == (note == "ancestor"), f"{who}: note '{answer['note']}'")
    check((f"flags of {target} are used" in answer["note"]) == (note == "ancestor"), f"{who}: '{answer['note']}'")
    check(("patch release" in answer["note"]) <= (note != "none"), f"{who}: note '{answer['note']}'")
    check((answer["note"] == "") == (note == "none"), f"{who}: note '{answer['note']}', expected {note}")
    if note == "none":
        flags = archspec_answer(name, compiler, version)
        check(values(answer)["KILN_CPU_FLAGS"] == flags, f"{who}: archspec says {flags}")


def languages(program):
    """(source, driver, variable)"""
    pairs = [("a.c", program, "CFLAGS"), ("a.cc", program.replace("gcc", "g++").replace("clang", "clang++"), "CXXFLAGS")]
    if program.startswith("gcc"):
        pairs.append(("a.f90", program.replace("gcc", "gfortran"), "FFLAGS"))
    return pairs


def compile_one(job):
    driver, source, flags, output = job
    # Every warning is an error: "-march=… is not valid" must not pass as one.
    result = run([driver, *flags.split(), "-Werror", "-c", str(WORK / source), "-o", str(output)])
    output.unlink(missing_ok=True)
    return job, result


def compile_everything(pool):
    jobs, counts = [], {"none": 0, "gap": 0, "ancestor": 0}
    for program in COMPILERS:
        compiler, version = program.split("-")[0], version_of(program)
        for answer in kiln_flags(compiler, version, "--cpu", "*"):
            if answer["family"] != "x86_64":
                continue
            check_note(answer, program, counts)
            flags = values(answer)
            for source, driver, variable in languages(program):
                output = WORK / f"{driver}-{answer['cpu']}-{source}.o"
                jobs.append((driver, source, flags[variable], output))
    for (driver, source, flags, _), result in pool.map(compile_one, jobs):
        check(result.returncode == 0, f"{driver} {flags} {source}: {result.stdout}")
    return len(jobs), counts


def check_that_the_test_can_fail():
    """Flags of a newer compiler are refused by an old one: without the search for ancestors this would happen."""
    for program, newer in (("gcc-11", "gcc@14.2.0"), ("clang-13", "clang@19.1.7")):
        compiler, version = newer.split("@")
        (answer,) = kiln_flags(compiler, version, "--cpu", "zen5")
        _, result = compile_one((program, "a.c", values(answer)["CFLAGS"], WORK / "refused.o"))
        check(result.returncode != 0, f"{program} takes the flags of {newer} for zen5")


def build(program, flags, folder, extra=()):
    """Two files compiled and linked with CFLAGS and LDFLAGS."""
    folder.mkdir(exist_ok=True)
    output = ""
    for name in ("a", "main"):
        command = [program, *flags["CFLAGS"].split(), *extra, "-c", str(WORK / f"{name}.c"), "-o", f"{name}.o"]
        result = run(command, cwd=folder)
        output += result.stdout
        if result.returncode:
            return None, output
    result = run([program, *flags["LDFLAGS"].split(), "a.o", "main.o", "-o", "program"], cwd=folder)
    return (folder / "program") if result.returncode == 0 else None, output + result.stdout


def is_link_time_object(path, program):
    bytes_ = path.read_bytes()
    return b".gnu.lto_" in bytes_ if program.startswith("gcc") else bytes_.startswith(b"BC\xc0\xde")


def check_optimise(program):
    compiler, version = program.split("-")[0], version_of(program)
    for words in ("o0", "o1", "o3", "os", "o3+lto", "o2+thinlto"):
        (answer,) = kiln_flags(compiler, version, "--cpu", "x86_64", "--optimise", words)
        folder = WORK / f"{program}-{words}"
        binary, output = build(program, values(answer), folder)
        check(binary is not None, f"{program} {words}: {output}")
        check(binary is None or run([binary]).returncode == 0, f"{program} {words}: the program fails")
        lto = is_link_time_object(folder / "a.o", program)
        check(lto == ("lto" in words), f"{program} {words}: LTO object: {lto}")
    check_profile(program, compiler, version)


def check_profile(program, compiler, version):
    folder = WORK / f"{program}-pgo"
    profile = str(folder / "profile")

    def flags_for(words):
        (answer,) = kiln_flags(compiler, version, "--cpu", "x86_64", "--optimise", words)
        return {name: value.replace(PROFILE, profile) for name, value in values(answer).items()}

    generate = flags_for("pgo-generate")
    if compiler == "clang":
        # Its profiling runtime and llvm-profdata are packages of their own: the compiler's part only.
        result = run([program, *generate["CFLAGS"].split(), "-S", str(WORK / "a.c"), "-o", "-"])
        check("__llvm_profile" in result.stdout, f"{program} does not profile: {result.stdout[:500]}")
        result = run([program, *flags_for("pgo-use")["CFLAGS"].split(), "-c", str(WORK / "a.c"), "-o", "/dev/null"])
        check(f"{profile}" in result.stdout, f"{program} does not look for its profile: {result.stdout}")
        return
    binary, output = build(program, generate, folder)
    check(binary is not None, f"{program} pgo-generate: {output}")
    check(binary is not None and run([binary]).returncode == 0, f"{program}: the profiled program fails")
    # With a profile there is no warning that it is missing; without one there is.
    extra = ["-Werror=missing-profile"]
    binary, output = build(program, flags_for("pgo-use"), folder, extra)
    check(binary is not None, f"{program} pgo-use: {output}")
    subprocess.run(["rm", "-rf", profile], check=True)
    binary, _ = build(program, flags_for("pgo-use"), folder, extra)
    check(binary is None, f"{program} does not miss its profile")


def check_hip():
    """hipcc is a Clang: Debian's compiles HIP for the device without ROCm's libraries."""
    (WORK / "a.hip").write_text("__attribute__((global)) void twice(float *x) { x[0] *= 2; }\n")
    (answer,) = kiln_flags("clang", version_of("clang-16"), "--cpu", "zen3", "--accelerator", "amd:gfx90a",
                           "--accelerator", "amd:gfx1030")
    flags = values(answer)["KILN_HIP_FLAGS"].split()
    command = ["clang++-16", "-x", "hip", *flags, "-nogpulib", "-nogpuinc", "-S", str(WORK / "a.hip"), "-o", "-", "-###"]
    jobs = [line for line in run(command).stdout.splitlines() if '"-cc1"' in line]
    device = [line for line in jobs if '"-fcuda-is-device"' in line]
    host = [line for line in jobs if '"-fcuda-is-device"' not in line]
    check(sorted(re.findall(r'"-target-cpu" "(gfx\w+)"', " ".join(device))) == ["gfx1030", "gfx90a"], f"{device}")
    check(len(host) == 1 and '"-target-cpu" "znver3"' in host[0], f"host code: {host}")
    for chip in ("gfx90a", "gfx1030"):  # one output each
        one = [flag for flag in flags if not flag.startswith("--offload") or flag.endswith(chip)]
        result = run(["clang++-16", "-x", "hip", *one, "-nogpulib", "-nogpuinc", "--cuda-device-only", "-S",
                      str(WORK / "a.hip"), "-o", "-"])
        check(result.returncode == 0 and chip in result.stdout, f"HIP for {chip}: {result.stdout[:800]}")


def main():
    start = time.monotonic()
    for name, text in SOURCES.items():
        (WORK / name).write_text(text)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        compiled, counts = compile_everything(pool)
        check_that_the_test_can_fail()
        list(pool.map(check_optimise, COMPILERS))
    check_hip()
    for problem in problems[:20]:
        print("FAILED:", problem)
    check(counts["ancestor"] > 0 and counts["gap"] > 0 and counts["none"] > 0, f"nothing to see: {counts}")
    print(f"flags: {compiled} compilations with {len(COMPILERS)} compilers in {time.monotonic() - start:.0f} s; "
          f"{counts['none']} exact, {counts['gap']} patch releases, {counts['ancestor']} by an ancestor")
    sys.exit(1 if problems else 0)


main()
