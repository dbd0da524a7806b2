"""The loop of night_kills_test.sh: night_kills.py KILN FAKE_STEP DOUBLE KILLS SEED fake|real, in its folder.

Each round changes a script, starts a night, a publication or a collection, and kills kiln, one process below it or all at once at a
moment that the seed decides. Then, with nothing mended: the lease is free, what was acknowledged answers and is whole, here and in
the registry, and nothing has a name that it does not deserve. Every sixth round a night goes through, and leaves nothing behind.
"""
import json
import os
import random
import subprocess
import sys
import time
import urllib.error
import urllib.request

import night_checks as checks
from night_checks import equal, fail, write

kiln, fake_step, double, kills, seed, engine = (*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])
MATRIX = "tiny/tiny.json"
TO = ["--to", f"http://{double}/ai"]
NIGHT = [kiln, "nightly", "-f", MATRIX, *TO, "--format", "json"]
PUBLISH = [kiln, "publish", "-f", MATRIX, *TO]
COLLECT = [kiln, "gc", "--delete"]
SCRIPTS = [f"tiny/recipes/{name}/distro.sh" for name in ("framework/hello", "library/fast", "compiler/turbo")]
counts = {"kills": 0, "too late": 0, "in nights": 0, "in publications": 0, "in collections": 0, "nights looked at": 0}
site = {"formats": ["oci"], "jobs": 2, "pull": {"retries": 1, "stall": "3s"}, "nightly": {"keep": 5, "every": "0s", "update": {"proposals": 0}},
        "gc": {"keep_for": "0s", "keep_snapshots": 3, "keep_steps_for": "0s"}}
if engine == "fake":
    site["launcher"] = [os.path.abspath(fake_step), os.path.abspath("fates")]
write("site.json", json.dumps(site))
write("fates", "")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(command[1:])}: exit code {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def index_rows():
    return json.loads(run([kiln, "index", "list", "--format", "json"]))


def check_registry(rows):
    for digest in {row["manifest"] for row in rows}:
        request = urllib.request.Request(f"http://{double}/v2/ai/hello/manifests/{digest}", method="HEAD",
                                         headers={"Accept": "application/vnd.oci.image.manifest.v1+json"})
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except urllib.error.HTTPError as error:
            fail(f"a row without its manifest in the registry: {digest}: {error}")


def check_what_is_left(names):
    """Of a killed command, as it is. `names`: of the images that were acknowledged."""
    status = json.loads(subprocess.run([kiln, "nightly", "-f", MATRIX, "--status", "--format", "json"], capture_output=True, check=False).stdout)
    equal(status["runs"], "", "who holds the lease")
    checks.check_names()
    checks.check_reports("tiny")
    rows = index_rows()
    if lost := names - {f"{row['repository']}:{row['tag']}" for row in rows}:
        fail(f"images are lost: {lost}")
    checks.check_images(rows)
    check_registry(rows)
    if os.path.exists("fates.twice"):
        fail("a step ran twice at once")


def one_kill(dice):
    command, kind = dice.choice(((NIGHT, "in nights"), (NIGHT, "in nights"), (PUBLISH, "in publications"), (COLLECT, "in collections")))
    checks.about[0] += f": {command[1]}"
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(timeout=dice.random() * longest[kind])
        longest[kind] = time.monotonic() - begin
    except subprocess.TimeoutExpired:
        below = checks.descendants(process.pid)
        draw = dice.random()
        checks.kill([process.pid] if draw < 0.5 else below if draw < 0.7 else [dice.choice(below)])
        counts["kills"] += 1
        counts[kind] += 1
    else:
        counts["too late"] += 1
    try:
        process.wait(timeout=120)
    except subprocess.TimeoutExpired:
        fail("it does not end when a process of it was killed")
    checks.wait_until_gone()


def look():
    counts["nights looked at"] += 1
    report = json.loads(run(NIGHT))
    equal((report["state"], len(report["images"])), ("green", 7), "the night after")
    rows = index_rows()
    equal(len(rows), 7, "images of the index")
    run([kiln, "index", "fsck", "--deep"])
    equal(checks.leavings(), [], "left behind")
    numbers = checks.numbers("tiny")
    if numbers[-1] != report["number"] or len(numbers) > 5:
        fail(f"reports {numbers} after night {report['number']}")
    return {f"{row['repository']}:{row['tag']}" for row in rows}, report["number"]


start = time.monotonic()
names, last = look()
whole = time.monotonic() - start
longest = {"in nights": whole, "in publications": whole / 3, "in collections": whole / 6}  # seconds, that it may take
round_ = 0
while counts["kills"] < kills:
    round_ += 1
    dice = random.Random(f"{seed} {round_}")
    checks.about[0] = f"seed {seed}, round {round_}, {counts['kills']} kills"
    with open(dice.choice(SCRIPTS), "a", encoding="utf-8") as script:
        script.write(f"# {seed} {round_}\n")
    one_kill(dice)
    check_what_is_left(names)
    if round_ % 6 == 0 or counts["kills"] == kills:
        now, number = look()
        if number <= last:
            fail(f"night {number} after night {last}")
        names, last = now, number
        if round_ % 60 == 0:
            print(f"{round_} rounds, {time.monotonic() - start:.0f} s: {counts}", flush=True)
print(f"kills: {counts}, seed {seed}, {engine} engine, {time.monotonic() - start:.0f} s: nothing lost, nothing left")
