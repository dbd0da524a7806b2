"""The loop of kill_loop.sh: kill_loop.py KILN REFERENCE KILLS SEED, in its folder.

Each round starts a build of state/, a publish, or a conversion of the image that REFERENCE names, and kills a process of it
(kiln, ninja, a step, an engine) or all of them at once, at a moment that the seed decides. Within ten seconds nothing of it may
be at work. Rounds begin where the last one ended. Every tenth, and at the end, a build goes through: it must give the images that
whole/, which nobody killed, has, and leave nothing beside them.
"""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

kiln, reference, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
here = os.getcwd()
MATRIX = "tiny/tiny.json"
BUILD = [kiln, "build", "-f", MATRIX, "--state", "state", "-j", "2", "--format", "json"]
PUBLISH = [kiln, "publish", "-f", MATRIX, "--state", "state"]
CONVERT = [kiln, "sif", reference, "-o", "sifs/hello.sif", "--level", "19"]
counts = {"killed": 0, "too late": 0, "builds": 0}


def fail(text):
    print(f"FAILED after {counts['killed']} kills of seed {seed}: {text}", file=sys.stderr)
    sys.exit(1)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def at_work(*states):
    """Processes of these folders: by their command lines, and those in containers by their root."""
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        command = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace")
        places = (command, link(f"/proc/{pid}/root"), link(f"/proc/{pid}/cwd"))
        if pid != os.getpid() and any(f"{here}/{state}" in place for state in states for place in places):
            found[pid] = command
    return found


def descendants(pid):
    below, parents = [], {}
    for child in filter(str.isdigit, os.listdir("/proc")):
        stat = read(f"/proc/{child}/stat").rpartition(b")")[2].split()
        if stat:
            parents.setdefault(int(stat[1]), []).append(int(child))
    left = [pid]
    while left:
        below += left
        left = [child for parent in left for child in parents.get(parent, ())]
    return below


def kill(victims):
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def victims_of(process, dice):
    """Who is killed: mostly one of the processes, kiln itself more often than others, seldom all at once."""
    all_of_it = descendants(process.pid)
    draw = dice.random()
    if draw < 0.4:
        return [process.pid]
    return all_of_it if draw < 0.5 else [dice.choice(all_of_it)]


def forget_work(dice):
    """Steps, tests or images are to be made again, so that there is something to kill."""
    for folder in dice.choice((["built"], ["tests", "built"], ["steps", "tests", "built"])):
        shutil.rmtree(f"state/{folder}", ignore_errors=True)


def one_kill(dice):
    command, longest = dice.choice(((BUILD, 3.0), (BUILD, 3.0), (PUBLISH, 0.1), (CONVERT, 0.4)))
    if command is BUILD:
        forget_work(dice)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(dice.random() * longest)
    if process.poll() is None:
        kill(victims_of(process, dice))
        counts["killed"] += 1
    else:
        counts["too late"] += 1
    if process.poll() is None and dice.random() < 0.5:
        time.sleep(dice.random() * 0.3)
        kill([process.pid])
    process.wait()
    for _ in range(100):
        if not (left := at_work("state", "sifs", "temporary")):
            return
        time.sleep(0.1)
    fail(f"{' '.join(command[1:3])} left at work: {left}")


def manifests(state):
    records = (json.loads(read(file)) for file in glob.glob(f"{state}/built/*.json"))
    return sorted(record["manifest"] for record in records)


def left_behind():
    """Whatever only a process that is at work needs."""
    empty = ["state/running", "state/engine.sessions", "state/store/tmp", "temporary"]
    found = [f"{folder}/{name}" for folder in empty if os.path.isdir(folder) for name in os.listdir(folder)]
    found += [f"state/tmp/{name}" for name in os.listdir("state/tmp") if name != ".lock"]
    found += [f"sifs/{name}" for name in os.listdir("sifs") if name != "hello.sif"]
    found += glob.glob("state/images/*/.*") + glob.glob("state/sif.snapshots/.*")
    for folder, _, names in os.walk("state"):
        if not folder.startswith("state/engine"):
            found += [f"{folder}/{name}" for name in names if name.endswith((".tmp", ".part"))]
    mounts = read("/proc/mounts").decode().splitlines()
    return found + [f"a mount at {line.split()[1]}" for line in mounts if f" {here}/" in line]


def must(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(command)}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def look(dice):
    counts["builds"] += 1
    forget_work(dice)  # a build that has work sweeps
    report = json.loads(must(BUILD))
    if report["failed"] != 0 or manifests("state") != manifests("whole"):
        fail(f"other images than those that nobody killed: {report}")
    must(PUBLISH)
    must(CONVERT)
    must([kiln, "sif", "check", "sifs/hello.sif"])
    listed = {image["manifest"] for image in json.loads(must([kiln, "index", "list", "--state", "state", "--format", "json"]))}
    if listed != set(manifests("whole")):
        fail(f"the index has other images: {listed}")
    if left := left_behind():
        fail(f"left behind: {left}")


start = time.monotonic()
rounds = 0
while counts["killed"] < kills:
    dice = random.Random(f"{seed} {rounds}")
    rounds += 1
    one_kill(dice)
    if rounds % 10 == 0 or counts["killed"] == kills:
        look(dice)
        print(f"{rounds} rounds: {counts}, {time.monotonic() - start:.0f} s", flush=True)
print(f"kills: {kills} of seed {seed}, {counts['builds']} builds looked at: nothing lost, nothing left")
