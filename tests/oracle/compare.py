"""Compares the oracle with kiln: over the catalogues of the repository, and over random ones by seed. See README.md."""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

from choose import Wrong
from generate import Generator
from plan import make_plan

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CATALOGUES = [  # matrix, folders of recipes; "" is beside the matrix
    ("matrix/demo.json", ["recipes"]),
    ("matrix/current.json", ["recipes"]),
    ("matrix/today-debian.json", ["recipes"]),
    ("matrix/paper.json", ["recipes"]),
    ("matrix/paper-debian.json", ["recipes"]),
    ("tests/data/tiny/tiny.json", ["tests/data/tiny/recipes"]),
    ("tests/data/openblas/openblas.json", ["recipes", "tests/data/openblas/recipes"]),
]


def kiln(program, folder, arguments):
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})


def kilns_plan(program, folder, matrix, recipes, sharing):
    """What the program says, in the oracle's form, or the error it ends with. `sharing`: ask `kiln plan`, too."""
    where = ["-f", matrix] + [word for one in recipes for word in ("--recipes", one)]
    shown = kiln(program, folder, ["show", "--stage", "plan", *where])
    if shown.returncode != 0:
        return None, shown.stderr
    plan = json.loads(shown.stdout)
    plan["sharing"] = {"steps": len(plan["steps"]), "without_sharing": plan.pop("steps_before_sharing")}
    if sharing:
        printed = kiln(program, folder, ["plan", "--format", "json", *where, "--state", "no-state"])
        plan["sharing"] = {name: value for name, value in json.loads(printed.stdout)["sharing"].items() if name in plan["sharing"] or name == "shared"}
    return plan, ""


def oracles_plan(folder, matrix, recipes):
    before = os.getcwd()
    os.chdir(folder)
    try:
        plan = make_plan(matrix, recipes, pathlib.Path(matrix).parent / "targets")
    except Wrong as wrong:
        return None, str(wrong)
    except Exception:  # whatever it is, say of which catalogue
        return None, traceback.format_exc()
    finally:
        os.chdir(before)
    return plan, ""


def first_difference(mine, its, path=""):
    """The first place where the two differ, depth first; None when they agree."""
    if isinstance(mine, dict) and isinstance(its, dict):
        for key in [*mine, *(key for key in its if key not in mine)]:
            found = first_difference(mine.get(key, "(nothing)"), its.get(key, "(nothing)"), f"{path}/{key}")
            if found:
                return found
        return None
    if isinstance(mine, list) and isinstance(its, list):
        for index in range(max(len(mine), len(its))):
            one = mine[index] if index < len(mine) else "(nothing)"
            other = its[index] if index < len(its) else "(nothing)"
            found = first_difference(one, other, f"{path}/{index}")
            if found:
                return found
        return None
    return None if mine == its else (path, mine, its)


def comparable(plan):
    """Without what no document determines: hints of warnings, how flags are explained."""
    plan = dict(plan)
    plan.pop("schema", None)
    plan["warnings"] = [re.split(": no value of |; did you mean", one)[0] for one in plan["warnings"]]
    for cell in plan["cells"]:
        flags = []
        for flag in cell["flags"]:
            flag = {name: value for name, value in flag.items() if name not in ("from", "note")}
            flags += [] if flag in flags else [flag]
        cell["flags"] = flags
    for step in plan["steps"].values():
        step.pop("tagged", None)
    # Cells before steps: a difference is told where people look first.
    return {name: plan[name] for name in ("name", "excluded", "cells", "steps", "sharing", "warnings")}


def readable(path, mine, its, plans):
    """The difference in a few lines, with the cell's id where it is in a cell."""
    words = path.split("/")
    place = path
    if words[1] in ("cells", "excluded") and len(words) > 2:
        for whose, plan in zip(("oracle", "kiln"), plans):
            cells = plan[words[1]]
            if int(words[2]) < len(cells):
                cell = cells[int(words[2])]
                place += f"\n  {whose}'s cell: {cell.get('id') or ', '.join(f'{axis}={value}' for axis, value in sorted(cell['axes'].items()))}"
    show = lambda value: json.dumps(value, indent=1, ensure_ascii=False)[:1500]
    return f"first difference at {place}\n  oracle: {show(mine)}\n  kiln:   {show(its)}"


TELL_REFUSED = "ORACLE_REFUSED" in os.environ
EQUAL, REFUSED, DIFFERENT = "equal", "refused by both", "different"


def check(program, name, folder, matrix, recipes, sharing=True):
    """Whether the two agree; where they do not, says where."""
    its, its_error = kilns_plan(program, folder, matrix, recipes, sharing)
    mine, my_error = oracles_plan(folder, matrix, recipes)
    if its is None and mine is None:
        if TELL_REFUSED:
            print(f"{name}:\n  oracle: {my_error}\n  kiln:   {its_error}")
        return REFUSED
    if its is None or mine is None:
        print(f"{name}:\n  oracle: {my_error or 'no error'}\n  kiln:   {its_error or 'no error'}")
        return DIFFERENT
    if not sharing:
        mine["sharing"].pop("shared")
    mine, its = comparable(mine), comparable(its)
    found = first_difference(mine, its)
    if found is None:
        return EQUAL
    print(f"{name}: {readable(*found, (mine, its))}")
    return DIFFERENT


def check_random(program, seed, folder):
    """A catalogue of this seed in an own folder, which stays when the two disagree."""
    place = pathlib.Path(folder) / f"seed-{seed}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    Generator(seed, place).write()
    outcome = check(program, f"seed {seed} ({place})", place, "matrix.json", ["recipes"], sharing=seed % 8 == 0)
    if outcome != DIFFERENT:
        shutil.rmtree(place)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", default=os.environ.get("KILN", "kiln"), help="the program (default: $KILN)")
    parser.add_argument("--seeds", type=int, default=200, help="how many random catalogues (default: 200)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--only-random", action="store_true", help="leave the repository's catalogues out")
    parser.add_argument("--folder", default=None, help="where random catalogues are written (default: a temporary folder)")
    parser.add_argument("--all", action="store_true", help="go on after the first difference")
    options = parser.parse_args()
    options.kiln = str(pathlib.Path(options.kiln).resolve())
    folder = options.folder or tempfile.mkdtemp(prefix="kiln-oracle-")
    outcomes = collections.Counter()
    checks = [lambda one=one: check(options.kiln, one[0], SOURCE, *one) for one in CATALOGUES if not options.only_random]
    checks += [lambda seed=seed: check_random(options.kiln, seed, folder) for seed in range(options.first, options.first + options.seeds)]
    for one in checks:
        outcome = one()
        outcomes[outcome] += 1
        if outcome == DIFFERENT and not options.all:
            break
    print(f"{outcomes[EQUAL]} catalogues are equal, {outcomes[REFUSED]} are refused by both, {outcomes[DIFFERENT]} differ")
    sys.exit(1 if outcomes[DIFFERENT] else 0)


if __name__ == "__main__":
    main()
