"""The nights of night_verdicts_test.sh: night_verdicts.py KILN FAKE_STEP IMAGES SEED, in its folder.

Whose step crashes, vanishes or hangs is drawn by seed; the reports must say of each image what became of it, and who must act.
"""
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import xml.etree.ElementTree

import night_checks
from night_checks import equal, fail, write

kiln, fake_step, images, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
MATRIX = "many/many.json"
night_checks.about[0] = f"seed {seed}"


def make_catalogue():
    """One framework of so many versions, each with a step of its own."""
    versions = [f"1.{number}" for number in range(images)]
    write(MATRIX, json.dumps({"name": "many", "axes": {"framework": ["many"], "version": versions, "method": ["distro"],
                                                       "base": ["little@1"], "target": ["plain"]}}))
    write("many/targets/plain.json", '{"cpu": "x86_64"}')
    about = {"description": "of a test", "licenses": "MIT", "homepage": "https://example.org/"}
    write("many/recipes/base/little/recipe.json",
          json.dumps({**about, "versions": {"1": {}}, "methods": {"distro": {"rootfs": "rootfs.sh"}}}))
    write("many/recipes/base/little/rootfs.sh", '#!/bin/sh -eu\necho little >little\ntar -cf "$KILN_OUTPUT" little\n', 0o755)
    write("many/recipes/framework/many/recipe.json",
          json.dumps({**about, "versions": {version: {} for version in versions},
                      "methods": {"distro": {"script": "distro.sh", "parameters": ["KILN_VERSION"]}}}))
    write("many/recipes/framework/many/distro.sh", '#!/bin/sh -eu\necho "$KILN_VERSION" >/opt/many\n', 0o755)
    write("site.json", json.dumps({"launcher": [os.path.abspath(fake_step), os.path.abspath("fates")], "formats": ["oci"],
                                   "jobs": 4, "nightly": {"update": {"proposals": 0}}, "limits": {"silence": "1s"}}))


def own_steps():
    """Of each cell the step that no other has."""
    plan = json.loads(subprocess.run([kiln, "plan", "-f", MATRIX, "--format", "json"], capture_output=True, check=True).stdout)
    return {cell["id"]: cell["steps"][-1] for cell in plan["cells"]}


def at_work():
    """Processes that belong to this folder."""
    here, found = os.getcwd(), {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            cwd = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if int(pid) not in (os.getpid(), os.getppid()) and (f"{here}/" in command or cwd.startswith(f"{here}/")):
            found[pid] = command
    return found


def night(number, status):
    start = time.monotonic()
    done = subprocess.run([kiln, "nightly", "-f", MATRIX, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != status:
        fail(f"night {number}: expected exit code {status}, found {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    equal(at_work(), {}, f"at work after night {number}")
    folder = pathlib.Path(".kiln/nights/many") / str(number)
    report = json.loads((folder / "night.json").read_text(encoding="utf-8"))
    equal(report["number"], number, "the number of the night")
    equal(len(report["images"]), images, "images that have a verdict")
    equal([name for name in ("night.json", "junit.xml", "report.html") if (folder / name).stat().st_size == 0], [], "empty reports")
    suites = xml.etree.ElementTree.parse(folder / "junit.xml").getroot()
    cases = {case.get("name"): case for case in suites.iter("testcase")}
    for image in report["images"]:
        good = image["verdict"] in ("built", "mended", "unchanged")
        equal(len(cases[image["name"]]) == 0, good, f"JUnit's case of {image['name']}, {image['verdict']}")
    equal(len(cases), images + 1, "JUnit's cases")
    print(f"night {number}: {report['state']}: {dict(verdicts(report))}, {time.monotonic() - start:.1f} s", flush=True)
    return report


def verdicts(report):
    return collections.Counter(image["verdict"] for image in report["images"])


def check_causes(report, fates):
    """Each that did not go well says so, stands in one group with its like, and names who must act."""
    grouped = [cell for group in report["failures"] for cell in group["cells"]]
    equal(sorted(grouped), sorted(fates), "cells that a cause is told of")
    words = {"killed": "killed: process", "vanished": "ended without a record: no machine for you", "silent": "killed after 1 s of silence"}
    for image in report["images"]:
        fate = fates.get(image["cell"])
        if fate is None:
            equal(image.get("failing_since", 0), 0, f"failing_since of {image['name']}, which went well")
            continue
        equal(image["verdict"], "failed", f"the verdict of {image['name']}, {fate}")
        if words[fate] not in image["what"]:
            fail(f"{image['name']}, {fate}: '{image['what']}' does not say '{words[fate]}'")
        # What the machine did may pass by itself, for two nights; what the script did will not.
        patience = "nobody" if report["number"] - image["failing_since"] < 2 else "site"
        equal(image["actor"], "recipe" if fate == "silent" else patience, f"who must act for {image['name']}, {fate}")
    by_fate = [{fates[cell] for cell in group["cells"]} for group in report["failures"]]
    if any(len(of_group) > 1 for of_group in by_fate):
        fail(f"a group of several causes: {by_fate}")


make_catalogue()
steps = own_steps()
equal(len(set(steps.values())), images, "steps of their own")
dice = random.Random(seed)
cells = sorted(steps)
dice.shuffle(cells)
crash, hang = images // 10, images // 20
fates = {**{cell: "killed" for cell in cells[:crash // 2]}, **{cell: "vanished" for cell in cells[crash // 2:crash]},
         **{cell: "silent" for cell in cells[crash:crash + hang]}}


def let_fail(some):
    write("fates", "".join(f"{steps[cell]} {fate}\n" for cell, fate in some.items()))


# 1. The night of the faults.
let_fail(fates)
first = night(1, 1)
equal(first["state"], "red", "the state")
equal(verdicts(first), {"built": images - crash - hang, "failed": crash + hang}, "the verdicts")
check_causes(first, fates)
equal({image["failing_since"] for image in first["images"] if image["verdict"] == "failed"}, {1}, "failing since")
equal(first["is_new_snapshot"], True, "the others are published")

# 2. Half of them go on failing for two nights: since the first.
still = {cell: fate for number, (cell, fate) in enumerate(sorted(fates.items())) if number % 2}
let_fail(still)
for number in (2, 3):
    report = night(number, 1)
    mended = {"mended": len(fates) - len(still)} if number == 2 else {}
    equal(verdicts(report), {"unchanged": images - len(still) - sum(mended.values()), "failed": len(still), **mended}, "the verdicts")
    check_causes(report, still)
    equal({image["failing_since"] for image in report["images"] if image["verdict"] == "failed"}, {1}, "failing since")

# 3. All go well: each of those is mended, and nothing else is made.
let_fail({})
last = night(4, 0)
equal(last["state"], "green", "the state")
equal({image["cell"] for image in last["images"] if image["verdict"] == "mended"}, set(still), "mended")
equal(verdicts(last)["unchanged"], images - len(still), "unchanged")
equal(last.get("failures", []), [], "causes")
listed = json.loads(subprocess.run([kiln, "index", "list", "--format", "json"], capture_output=True, check=True).stdout)
equal(len(listed), images, "images of the index")
if os.path.exists("fates.twice"):
    fail(f"steps that ran twice at once: {pathlib.Path('fates.twice').read_text(encoding='utf-8')}")
print(f"verdicts: {images} images, {crash} crashed, {hang} hung, each told")
