"""What becomes of mutants: their file is compiled, linked before the library that holds the original, and the unit test programs
that hold this file are run, the likeliest first, up to the first failure."""
import collections
import json
import os
import pathlib
import queue
import re
import resource
import shlex
import subprocess
import threading

import combining

MEMORY = 8 << 30      # bytes of address space; an endless container stops here
FILE_SIZE = 1 << 30   # bytes
SLOWER = 4            # times as much processor time as the unmutated program, and
GRACE = 5             # seconds more: then a mutant does not end
STILL = 300           # seconds by the clock for a program that only waits; the machine may be busy

# A mutated path may be any path: all file systems are read-only but a fresh $TMPDIR and /dev/shm. No network; nothing
# outlives the program.
SANDBOX = r"""
while read -r _ folder _; do
  case $folder in /proc* | /sys* | /dev*) ;; *) mount -o remount,bind,ro "$folder" 2>/dev/null ;; esac
done </proc/self/mounts
mount -t tmpfs none "$TMPDIR" && mount -t tmpfs none /dev/shm && exec "$@"
"""


class NotWhole(Exception):
    """The unmutated tree does not build, or a test of it fails."""


def limit_process(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, folder, **options):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, **options)


class Judge:
    """Owns the folder of mutants in the debug build: compiled file by file, with a precompiled header."""

    def __init__(self, root, build, jobs):
        self.root, self.build, self.jobs = root, build, jobs
        self.slots = queue.Queue()
        self.plain = {}  # file: its optimised object
        self.suites = collections.defaultdict(set)  # file: what is likely to kill its mutants
        self.lock = threading.Lock()
        for number in range(jobs):
            slot = build / "mutants" / str(number)
            (slot / "tmp").mkdir(parents=True, exist_ok=True)
            self.slots.put(slot)

    def prepare(self, chosen):
        """Builds the chosen unit test programs, or all, runs each once and keeps how much processor time it took."""
        self.need(["cmake", "--preset", "debug"], self.root)
        self.need(["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", *(chosen or ["unit_tests"])], self.root)
        self.compiles = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            self.compiles[os.path.relpath(entry["file"], self.root)] = shlex.split(entry["command"])
        self.links, self.members, self.seconds = {}, {}, {}
        slot = self.build / "mutants" / "0"
        for program in chosen or self.unit_programs():
            link = self.need(["ninja", "-t", "commands", f"tests/{program}"], self.build).splitlines()[-1]
            self.links[program] = link.partition(" && cd ")[0]  # what follows tells ctest of the tests
            traced = self.need(["sh", "-c", self.link_command(program, "-Wl,--trace", slot / program)], self.build)
            self.members[program] = set(re.findall(r"(lib\w+\.a\([^)]+\))$", traced, re.M))
            before = processor_time()
            killer = self.run_program(slot / program, slot, STILL, "*")
            if killer:
                raise NotWhole(f"{program}: {killer} fails without a mutant")
            self.seconds[program] = processor_time() - before
            (slot / program).unlink()

    def unit_programs(self):
        """ctest knows them as unit.<folder>."""
        tests = json.loads(self.need(["ctest", "--test-dir", str(self.build), "--show-only=json-v1"], self.root))["tests"]
        return sorted(test["name"].replace("unit.", "test_", 1) for test in tests if test["name"].startswith("unit."))

    def need(self, command, folder):
        done = run(command, folder)
        if done.returncode != 0:
            raise NotWhole(f"{shlex.join(command)} fails:\n{done.stdout[-4000:]}")
        return done.stdout

    def programs_for(self, file):
        """The test programs that hold the file: the one with a test of its name first, its library's own, then the quick."""
        command, name = self.compiles[file], pathlib.Path(file)
        library = re.match(r"CMakeFiles/kiln_(\w+)\.dir/", command[command.index("-o") + 1]).group(1)
        member = f"libkiln_{library}.a({name.name}.o)"

        def order(program):
            named = f"/{name.stem}_test.cc.o " in self.links[program]
            return not named, program != f"test_{library}", self.seconds[program]
        return sorted((program for program, members in self.members.items() if member in members), key=order)

    def judge(self, file, numbered, tell):
        """Judges mutants of one file, a dictionary by number, and tells each verdict (number, verdict, by which test): killed,
        survived, same code or not compiled."""
        slot = self.slots.get()
        try:
            for compiled, alive in self.compiled_in(slot, file, numbered, tell):
                self.run_against(slot, file, compiled, alive, tell)
                for number, mutant in alive.items():
                    tell(number, "same code" if self.is_same_code(slot, mutant) else "survived", "")
        finally:
            self.slots.put(slot)

    def compiled_in(self, slot, file, numbered, tell):
        """Objects, each with the mutants that it holds."""
        source, compiled = slot / pathlib.Path(file).name, slot / "mutant.o"
        text, waiting = (self.root / file).read_text(), dict(numbered)
        while waiting:
            together, alone = combining.combined(file, text, waiting)
            if len(alone) == len(waiting):
                break
            source.write_text(together)
            done = self.compile(file, source, compiled)
            if done.returncode == 0:
                yield compiled, {number: waiting.pop(number) for number in list(waiting) if number not in alone}
                break
            refused = combining.refused(done.stdout) & set(waiting)
            if not refused:
                break
            for number in refused:
                del waiting[number]
                tell(number, "not compiled", "")
        for number, mutant in waiting.items():
            source.write_text(combining.mutated(text, mutant)[0])
            if self.compile(file, source, compiled).returncode == 0:
                yield compiled, {number: mutant}
            else:
                tell(number, "not compiled", "")

    def run_against(self, slot, file, compiled, alive, tell):
        """Takes out of `alive` what a test kills."""
        for program in self.programs_for(file):
            linked = slot / program
            if not alive:
                return
            done = run(["sh", "-c", self.link_command(program, compiled, linked)], self.build)
            for number in list(alive):
                if done.returncode != 0:
                    del alive[number]
                    tell(number, "not compiled", "")
                elif killer := self.first_failure(file, program, linked, slot, number):
                    del alive[number]
                    self.suites[file].add(killer.partition(".")[0])
                    tell(number, "killed", killer)
            linked.unlink(missing_ok=True)

    def is_same_code(self, slot, mutant):
        """Whether the optimised objects are the same: then there is nothing that a test could notice."""
        text = (self.root / mutant.file).read_text()
        with self.lock:
            if mutant.file not in self.plain:
                self.plain[mutant.file] = self.optimised(slot, mutant.file, text)
        return self.optimised(slot, mutant.file, combining.mutated(text, mutant)[0]) == self.plain[mutant.file]

    def optimised(self, slot, file, text):
        source, output = slot / pathlib.Path(file).name, slot / "optimised.o"
        source.write_text(text)
        if self.compile(file, source, output, ["-O2", "-g0", "-w"]).returncode != 0:
            raise NotWhole(f"{source} compiles, but not with -O2")
        return output.read_bytes()

    def compile(self, file, source, output, extra=()):
        """With the flags of the file itself, warnings being errors: what the compiler refuses is no mutant."""
        command = list(self.compiles[file])
        while not re.search(r"(\+\+|/cc)(-\d+)?$", command[0]):  # the compiler cache
            command.pop(0)
        command[command.index("-o") + 1] = str(output)
        command[command.index("-c") + 1] = str(source)
        command[1:1] = ["-iquote", str((self.root / file).parent)]
        return run(command + list(extra), self.build)

    def link_command(self, program, added, output):
        """An object that is added comes before the archives: the member with the same names is then not asked for. Debug
        information would be most of the work."""
        return self.links[program].replace(f" -o tests/{program} ", f" -fuse-ld=lld -Wl,--strip-debug {added} -o {output} ")

    def first_failure(self, file, program, linked, slot, number):
        """Runs the likely suites first: those of the test that has the file's name, and those that killed before."""
        named = {suite for test in self.root.glob(f"tests/*/{pathlib.Path(file).stem}_test.cc")
                 for suite in re.findall(r"^TEST(?:_F|_P)?\((\w+),", test.read_text(), re.M)}
        likely = ":".join(f"{suite}.*" for suite in sorted(named | self.suites[file]))
        limit = int(GRACE + SLOWER * self.seconds[program])
        filters = [likely, "-" + likely] if likely else ["*"]
        return next((killer for chosen in filters if (killer := self.run_program(linked, slot, limit, chosen, number))), "")

    def run_program(self, program, slot, seconds, tests, number=-1):
        """The first test that fails, or an empty text."""
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--net"]
        if os.geteuid() != 0:
            command.append("--map-root-user")
        command += ["sh", "-c", SANDBOX, "sh", str(program), "--gtest_fail_fast", "--gtest_filter=" + tests]
        environment = dict(os.environ, TMPDIR=str(slot / "tmp"), KILN_MUTANT=str(number))
        try:
            done = run(command, self.build, env=environment, timeout=STILL, preexec_fn=lambda: limit_process(seconds))
        except subprocess.TimeoutExpired as stopped:
            return f"{last_test((stopped.stdout or b'').decode(errors='replace'))} (waits)"
        if done.returncode == 0:
            return ""
        failed = re.search(r"^\[  FAILED  \] ([^\s,]+)", done.stdout, re.M)
        return failed.group(1) if failed else f"{last_test(done.stdout)} (ends with {done.returncode})"


def last_test(output):
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
    return begun[-1] if begun else "before the first test"
