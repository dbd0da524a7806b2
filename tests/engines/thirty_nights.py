"""The nights of thirty_nights_test.sh: thirty_nights.py KILN FAKE_STEP DOUBLE NIGHTS SEED, in its folder.

A night has a change (a script, a version more or less, a description), a fault, and what comes after the fault: the night that
must be green. Then disk use, snapshots, reports and `--status` are as the site file says. The state folder is a disk of its own.
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import night_checks as checks
from night_checks import STATE, equal, fail, write

kiln, fake_step, double, nights, seed = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
MATRIX = "tiny/tiny.json"
NIGHT = [kiln, "nightly", "-f", MATRIX, "--format", "json"]
KEEP_REPORTS, KEEP_SNAPSHOTS = 5, 3
write("site.json", json.dumps({"launcher": [fake_step, os.path.abspath("fates")], "formats": ["oci"], "jobs": 2,
                               "pull": {"retries": 1, "stall": "3s"},
                               "gc": {"keep_for": "0s", "keep_snapshots": KEEP_SNAPSHOTS, "keep_steps_for": "0s"},
                               "nightly": {"keep": KEEP_REPORTS, "every": "0s", "update": {"proposals": 0}}}))
recipe_file = pathlib.Path("tiny/recipes/framework/hello/recipe.json")
versions = ["2.10", "2.1"]
SCRIPTS = [f"tiny/recipes/{name}/distro.sh" for name in ("framework/hello", "library/fast", "compiler/turbo")]


def run(command, *statuses):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (statuses or (0,)):
        fail(f"{' '.join(command[1:])}: exit code {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def answer(*words):
    return json.loads(run([kiln, *words, "--format", "json"]).stdout)


# --- the changes

def substituted(pattern, replacement, text):
    """With the first match replaced; without one the test ends."""
    changed, count = re.subn(pattern, lambda _: replacement, text, count=1, flags=re.S)
    if count != 1:
        fail(f"nothing matches {pattern}")
    return changed


def write_versions():
    text = recipe_file.read_text(encoding="utf-8")
    facts = ",\n    ".join(f'"{version}": {{"facts": {{"greeting": "hello"}}}}' for version in versions)
    recipe_file.write_text(substituted(r'"versions": \{\n.*?\n  \}', f'"versions": {{\n    {facts}\n  }}', text), encoding="utf-8")
    matrix = pathlib.Path(MATRIX).read_text(encoding="utf-8")
    pathlib.Path(MATRIX).write_text(substituted(r'"version": \["2.10".*?\]', f'"version": {json.dumps(versions)}', matrix), encoding="utf-8")


def change_script(dice, night):
    with open(dice.choice(SCRIPTS), "a", encoding="utf-8") as script:
        script.write(f"# night {night}\n")


def change_versions(_, night):
    """One more, until there are four; then one less."""
    if len(versions) == 4:
        del versions[2]
    else:
        versions.append(f"2.1.{night}")
    write_versions()


def change_label(_, night):
    text = recipe_file.read_text(encoding="utf-8")
    recipe_file.write_text(substituted('"description": "[^"]*"', f'"description": "as of night {night}"', text), encoding="utf-8")


# --- the faults: each runs a night in which something goes wrong, and says so

def killed(dice, number=signal.SIGKILL):
    process = subprocess.Popen(NIGHT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(dice.random() * longest)
    if process.poll() is None:
        if number == signal.SIGKILL:
            checks.kill(checks.descendants(process.pid))
        else:
            process.send_signal(number)
    process.wait(timeout=120)
    checks.wait_until_gone()
    if number == signal.SIGTERM and process.returncode not in (0, 130):
        fail(f"exit code {process.returncode} after SIGTERM")


def told_to_end(dice):
    killed(dice, signal.SIGTERM)


def remount(size):
    subprocess.run(["mount", "-o", f"remount,size={size}", ".kiln"], check=True)


def full_disk(dice):
    if dice.random() < 0.5:
        (STATE / "nights.reserve").unlink(missing_ok=True)  # nobody has kept room
    space = os.statvfs(".kiln")
    used = (space.f_blocks - space.f_bfree) * space.f_frsize
    remount(used + dice.randrange(0, 400) * 1024)
    try:
        run(NIGHT, 0, 1, 8)
    finally:
        remount("1g")


def flipped_bit(dice):
    """Nobody reads every byte every night: an administrator does, and mends."""
    # Of the current snapshot: nobody can make again what only an older one has.
    current = set(re.findall(r"sha256:([0-9a-f]{64})", json.dumps(answer("index", "list"))))
    blobs = sorted(path for path in STATE.glob("store/sha256/*/*") if path.name in current and path.stat().st_size > 0)
    if not blobs:
        return
    victim = dice.choice(blobs)
    content = bytearray(victim.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    with open(victim, "r+b") as file:
        file.write(content)
    run([kiln, "index", "fsck", "--deep", "--repair"], 0, 8)


def index_removed(_):
    (STATE / "index.db").unlink(missing_ok=True)


def index_cut(dice):
    index = STATE / "index.db"
    if index.exists():
        os.truncate(index, dice.randrange(index.stat().st_size))


def registry_down(_):
    write("double/faults", "* . 500\n")
    run(NIGHT + ["--to", f"http://{double}/ai"], 6)
    write("double/faults", "")
    run(NIGHT + ["--to", f"http://{double}/ai"], 0)


CHANGES = (change_script, change_script, change_versions, change_label)
FAULTS = (killed, killed, told_to_end, full_disk, flipped_bit, index_removed, index_cut, registry_down)


def age():
    """A day goes by: gc leaves what is younger than an hour, as somebody may be about to name it."""
    subprocess.run(["find", ".kiln", "-exec", "touch", "-h", "-d", "1 day ago", "{}", "+"], check=True)


def used():
    return int(subprocess.run(["du", "-s", "--exclude=nights.reserve", "--block-size=1", ".kiln"], capture_output=True, check=True).stdout.split()[0])


def ask(version):
    write("ask.json", json.dumps({"optimisation": {"enable_opt_build": False, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"},
                                                   "app_type-ai_training": {"config": {"ai_framework": "hello"},
                                                                            "ai_framework-hello": {"version": version}}}}))
    return ["select", "--dsl", "ask.json"]


def look(last):
    """What must hold after a green night; returns its number."""
    reports = checks.numbers("tiny")
    if reports[-1] <= last or len(reports) > KEEP_REPORTS:
        fail(f"reports {reports}, and the last one was {last}")
    status = answer("nightly", "-f", MATRIX, "--status")
    equal((status["trouble"], status["runs"], status["nights"][-1]["number"]), ("", "", reports[-1]), "--status")
    equal(sorted({night["number"] for night in status["nights"]}), [night["number"] for night in status["nights"]], "numbers of nights")
    rows = run([kiln, "index", "snapshots"]).stdout.splitlines()[1:]
    snapshots = [int(row.split()[0]) for row in rows]
    if status["nights"][-1]["snapshot"] not in snapshots[:2]:  # or the one before what was pruned
        fail(f"the report names snapshot {status['nights'][-1]['snapshot']}, there are {snapshots}")
    if len(snapshots) > KEEP_SNAPSHOTS + 1:
        fail(f"{len(snapshots)} snapshots are kept: {rows}")
    for number in snapshots:
        images = answer("index", "list", "--snapshot", str(number))
        checks.check_images(images)
        if "2.10" not in {image["version"] for image in images}:
            fail(f"snapshot {number} has no image of hello 2.10")
        run([kiln, *ask("2.10"), "--snapshot", str(number)])
    equal({image["version"] for image in answer("index", "list")}, set(versions), "versions of the current snapshot")
    run([kiln, "index", "fsck", "--deep"])
    checks.check_names()
    checks.check_reports("tiny")
    equal(checks.leavings(), [], "left behind")
    return reports[-1]


write("fates", "")
start = time.monotonic()
run(NIGHT)
longest = (time.monotonic() - start) * 1.2
last, sizes, faults = look(0), [used()], {}
for night in range(1, nights + 1):
    dice = random.Random(f"{seed} {night}")
    change, fault = dice.choice(CHANGES), dice.choice(FAULTS)
    checks.about[0] = f"seed {seed}, night {night}: {change.__name__}, {fault.__name__}"
    change(dice, night)
    fault(dice)
    age()
    faults[fault.__name__] = faults.get(fault.__name__, 0) + 1
    report = json.loads(run(NIGHT).stdout)
    equal(report["state"], "green", "the night after")
    if shutil.which("buildah") is None:
        equal(report.get("collected", "") != "", True, "something is collected")
    run([kiln, "publish", "-f", MATRIX, "--prune", "--yes"])  # a version less: who takes it out takes it away
    last = look(last)
    sizes.append(used())
    print(f"night {report['number']}: {change.__name__}, {fault.__name__}: {sizes[-1] >> 10} KiB, {len(report['images'])} images", flush=True)
third = max(1, len(sizes) // 3)
if max(sizes[-third:]) > 1.5 * max(sizes[:third + 1]):
    subprocess.run("du -s .kiln/* | sort -n | tail -n 12; find .kiln -type f | wc -l", shell=True, check=False)
    fail(f"disk use grows: {sizes}")
print(f"{nights} nights of seed {seed}, {time.monotonic() - start:.0f} s: {faults}; KiB: {[size >> 10 for size in sizes]}")
