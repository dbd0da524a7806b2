"""The rounds of two_builds_test.sh: two_builds.py KILN IMAGE_BITS ROUNDS SEED, in its folder.

Each round starts a build of tiny and one of pair at once in one state folder. The first round leaves both alone: together they must run as
many steps as tiny alone, each once. In the others one of them is killed when it has written a number of lines that the seed decides: kiln,
its ninja or one of its steps. The other one must end as if it were alone, the killed one must go through when it is started again, and the
images must be those of whole/, which one build made without any other.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading

kiln, image_bits, rounds, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
counts = {"killed": 0, "too late": 0}


def fail(text):
    sys.exit(f"FAILED after {counts} of seed {seed}: {text}")


def descendants(pid):
    """(pid, command line) of each process below `pid`."""
    found = []
    for child in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split():
        try:
            with open(f"/proc/{child}/cmdline", "rb") as file:
                found.append((int(child), file.read().replace(b"\0", b" ").decode(errors="replace")))
        except OSError:
            continue
        found += descendants(int(child))
    return found


class Build:
    """kiln build of a matrix in a state folder; `dice` and `line`: whether and when a process of it is killed."""

    def __init__(self, matrix, state, dice=None, line=0):
        self.dice, self.line, self.lines, self.victim = dice, line, [], ""
        self.process = subprocess.Popen(
            [kiln, "build", "-f", f"tiny/{matrix}.json", "--state", state, "-j", "2", "--format", "json", "--progress", "plain"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if self.dice and len(self.lines) == self.line:
                self.kill()

    def kill(self):
        below = descendants(self.process.pid)
        kinds = {"kiln": [self.process.pid], "ninja": [pid for pid, command in below if command.startswith("ninja ")],
                 "step": [pid for pid, command in below if " step --state " in command]}
        kind = self.dice.choice(sorted(kind for kind in kinds if kinds[kind]))
        try:
            os.kill(self.dice.choice(kinds[kind]), signal.SIGKILL)
            self.victim = kind
        except ProcessLookupError:
            pass

    def end(self):
        """Its exit status and its report."""
        out = self.process.stdout.read()
        self.reader.join()
        status = self.process.wait()
        return status, json.loads(out) if out else {}


def bits(state):
    return subprocess.run([sys.executable, image_bits, state], check=True, capture_output=True, text=True).stdout


def need_whole(build, what):
    status, report = build.end()
    if status != 0 or report.get("failed", 0) != 0:
        fail(f"{what}: exit status {status}, {report}\n{''.join(build.lines)}")
    return report


first = Build("tiny", "whole")
whole = need_whole(first, "a build alone")
wanted = bits("whole")
latest = len(first.lines) // 3  # one of two builds may have half of the steps to tell of
for number in range(rounds):
    dice = random.Random(seed * 1000 + number)
    shutil.rmtree("state", ignore_errors=True)
    if number == 0:
        both = [Build("tiny", "state"), Build("pair", "state")]
        run = sum(need_whole(build, "one of two builds")["steps_run"] for build in both)
        if run != whole["steps_run"]:
            fail(f"two builds ran {run} steps, and one alone {whole['steps_run']}")
    else:
        names = ["tiny", "pair"]
        dice.shuffle(names)
        killed = Build(names[0], "state", dice, dice.randint(1, latest))
        other = Build(names[1], "state")
        status, _ = killed.end()
        # A step that is killed is a failure of every build that needs it and has not run it yet itself.
        alone, report = other.end()
        if killed.victim != "step" and alone != 0:
            fail(f"beside a killed {killed.victim or 'nothing'}: exit status {alone}, {report}\n{''.join(other.lines)}")
        counts["killed" if killed.victim else "too late"] += 1
        if not killed.victim and status != 0:
            fail(f"a build that was not killed: exit status {status}\n{''.join(killed.lines)}")
        for name in names:
            need_whole(Build(name, "state"), f"after a killed {killed.victim}")
    need_whole(Build("tiny", "state"), "at the end")
    if bits("state") != wanted:
        fail("other images than of a build alone")
    check = subprocess.run([kiln, "index", "fsck", "--deep", "--state", "state"], capture_output=True, text=True)
    if check.returncode != 0:
        fail(check.stdout + check.stderr)
if rounds > 1 and counts["killed"] == 0:
    fail("no build was killed")
print(f"two builds: {rounds} rounds of seed {seed}, {counts}")
