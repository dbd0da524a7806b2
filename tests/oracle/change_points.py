"""Apache Otava's own program as the yardstick of kiln's change points (factory/bench/change_points.h).

usage: change_points.py --program CHANGE_POINT_CASES [--series N] [--seed N]

Random series by seed, of each kind that is hard: steps, noise-free steps, one value, ties by rounding, zeros, too few values, more
values than a window has. Each is asked of both; a series differs where an index, a mean, a change or a p does. Otava, NumPy and SciPy
are in .cache/validators (ci/setup --validators); without them nothing is tested (exit code 77). Exit code 1: some differ.
"""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import warnings

VALIDATORS = pathlib.Path(__file__).resolve().parents[2] / ".cache/validators"


def in_validators():
    """Goes on in the venv that has Otava."""
    python = VALIDATORS / "bin/python3"
    if pathlib.Path(sys.prefix) != VALIDATORS and python.exists():
        os.execv(python, [str(python), "-B", *sys.argv])


def steps(rnd, size, chance, factors, noise):
    level, found = 100.0, []
    for _ in range(size):
        if rnd.random() < chance:
            level *= rnd.choice(factors)
        found.append(rnd.gauss(level, noise))
    return found


def mirrored(rnd):
    """Levels and the same back: of two splits that are as good the first has to be taken."""
    found = []
    for _ in range(rnd.randint(2, 4)):
        found += [float(rnd.choice((1, 2, 3, 5, 8)))] * rnd.randint(2, 6)
    return found + found[::-1]


def one_step(rnd, digits):
    size = rnd.randint(4, 60)
    return [round(rnd.gauss(100 if place < size // 2 else 110, 2), digits) for place in range(size)]


def scaled(values, factor):
    return [value * factor for value in values]


KINDS = {
    "steps": lambda rnd: steps(rnd, rnd.choice((5, 12, 20, 30, 40, 60, 90)), 0.05, (0.8, 0.9, 1.1, 1.3), rnd.choice((0.5, 2))),
    "many steps": lambda rnd: steps(rnd, rnd.randint(60, 160), 0.06, (0.9, 0.95, 1.05, 1.1), 1.5),
    "nights": lambda rnd: steps(rnd, rnd.randint(5, 60), 0.02, (0.95, 1.05), 1),
    "noise-free": lambda rnd: [1.0] * rnd.randint(1, 15) + [rnd.choice((2.0, 0.1, 1.1))] * rnd.randint(1, 15),
    "constant": lambda rnd: [rnd.choice((3.0, 0.1, 0.0))] * rnd.randint(0, 60),
    "few": lambda rnd: [rnd.gauss(10, 1) for _ in range(rnd.randint(0, 4))],
    "whole numbers": lambda rnd: one_step(rnd, 0),
    "hundredths": lambda rnd: one_step(rnd, 2),
    "mirrored": mirrored,
    "zeros": lambda rnd: [rnd.choice((0.0, 0.0, 0.0, 1.0)) for _ in range(rnd.randint(4, 40))],
    "outlier": lambda rnd: [rnd.gauss(100, 1) for _ in range(rnd.randint(10, 40))] + [120.0] + [rnd.gauss(100, 1) for _ in range(rnd.randint(0, 5))],
    "large and small": lambda rnd: scaled(steps(rnd, 30, 0.1, (0.5, 2), 1), rnd.choice((1e-9, 1e12, -1.0))),
}


def same_p(ours, theirs):
    """Of levels that do not vary p is 0. There the mean of equal values may be a rounding beside them, and the level then varies."""
    return theirs < 1e-12 if ours == 0 else math.isclose(ours, theirs, rel_tol=1e-9)


def same_point(ours, theirs):
    index, p, before, after, change, _ = ours
    return (index == int(theirs.index) and same_p(p, theirs.stats.pvalue) and math.isclose(before, theirs.stats.mean_1, rel_tol=1e-12)
            and math.isclose(after, theirs.stats.mean_2, rel_tol=1e-12)
            and math.isclose(change, theirs.stats.forward_rel_change(), rel_tol=1e-9))


def same(ours, theirs):
    return len(ours) == len(theirs) and all(map(same_point, ours, theirs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--series", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        from otava.analysis import compute_change_points
    except ImportError:
        print("SKIPPED: no Otava here (ci/setup --validators)")
        return 77
    warnings.simplefilter("ignore")  # of divisions by the variance of what does not vary
    rnd = random.Random(options.seed)
    series = [(kind, make(rnd)) for _ in range(-(-options.series // len(KINDS))) for kind, make in KINDS.items()]
    answers = subprocess.run([options.program], input="".join(json.dumps(values) + "\n" for _, values in series), text=True,
                             capture_output=True, check=True).stdout.splitlines()
    assert len(answers) == len(series)
    differ = points = 0
    for (kind, values), answer in zip(series, answers):
        theirs, _ = compute_change_points(list(values), window_len=50, max_pvalue=0.001, min_magnitude=0.0)
        points += len(theirs)
        if not same(json.loads(answer), theirs):
            differ += 1
            print(f"{kind}: {values}\n  kiln {answer}\n  Otava {[(int(p.index), float(p.stats.pvalue), float(p.stats.mean_1)) for p in theirs]}")
    print(f"{len(series)} series, {points} change points, {differ} series differ")
    return 1 if differ or not points else 0


if __name__ == "__main__":
    in_validators()
    sys.exit(main())
