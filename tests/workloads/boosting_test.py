"""Gradient boosting as `kiln bench` runs it: what is learnt, the figures, and what is refused."""
import importlib
import json
import os
import subprocess
import sys
import types
import unittest

import recipe_files
import boosted_trees
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = """import sys, boost, boosted_trees, boosting_test
sys.argv[0] = 'boost.py'
boosted_trees.ROWS, boosted_trees.HELD_OUT = 4000, 1000
boost.STEPS['reference'] = 'boosting_test'
boost.harness.run(boost.main)"""
VERSION = "1.0"
FAULT = os.environ.get("KILN_TEST_FAULT", "")


class Booster:
    """Boosted stumps in NumPy, which a workload takes for a framework."""

    def __init__(self, rows, targets, threads):
        del threads
        self.rows, self.start, self.left = rows, targets.mean(), targets - targets.mean()
        self.stumps = []

    def grow(self):
        best = None
        for column in range(6):
            for cut in (-1, -0.5, 0, 0.5, 1):
                above = self.rows[:, column] > cut
                values = self.left[~above].mean(), self.left[above].mean()
                gain = (~above).sum() * values[0] ** 2 + above.sum() * values[1] ** 2
                if best is None or gain > best[0]:
                    best = gain, column, cut, values
        self.stumps.append(best[1:])
        self.left = self.left - 0.5 * self.value(best[1:], self.rows)

    @staticmethod
    def value(stump, rows):
        column, cut, (low, high) = stump
        return np.where(rows[:, column] > cut, high, low)

    def predict(self, rows):
        if FAULT == "learns nothing":
            return np.full(len(rows), 9.0)
        return self.start + 0.5 * sum(self.value(stump, rows) for stump in self.stumps)


def run(**environment):
    path = os.pathsep.join([os.path.join(HERE, "..", "..", "recipes", "shared", "workload"), HERE])
    settings = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", KILN_FRAMEWORK_NAME="reference", KILN_BENCH_STEPS="20")
    settings.update(environment)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


class Boosting(unittest.TestCase):
    def test_the_smoke_test_of_an_image_is_a_run(self):
        program = ("import sys, types, boosted_trees, boosting_test; boosted_trees.ROWS, boosted_trees.HELD_OUT, boosted_trees.STEPS = 4000, 1000, 20; "
                   "import boost; boost.STEPS['reference'] = 'boosting_test'; import boosting_smoke")
        shared = os.path.join(HERE, "..", "..", "recipes", "shared")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([shared, os.path.join(shared, "workload"), HERE]),
                           PYTHONDONTWRITEBYTECODE="1", KILN_NAME="reference", KILN_VERSION="1.0")
        done = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertRegex(done.stdout, r"^reference 1\.0, error \d\.\d{4} on rows that were held out\n$")
        environment["KILN_VERSION"] = "2.0"
        done = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual((1, "this is reference 1.0, not 2.0\n"), (done.returncode, done.stderr))

    def test_rounds_are_timed_and_learn(self):
        status, output, errors = run()
        self.assertEqual((0, ""), (status, errors))
        said = json.loads(output)
        self.assertEqual(("ms/round", 20, "reference 1.0", 4000), (said["unit"], len(said["samples"]), said["framework"], said["batch"]))
        self.assertTrue(said["result"]["ok"])
        self.assertLess(said["result"]["value"], said["result"]["expected"])

    def refused(self, word, **environment):
        status, output, errors = run(**environment)
        self.assertEqual((1, ""), (status, output))
        self.assertRegex(errors, "^boost.py: .*" + word)
        self.assertEqual(1, errors.count("\n"))

    def test_what_is_wrong_has_no_speed(self):
        self.refused("this is not learning", KILN_TEST_FAULT="learns nothing")
        # A hundred stumps do not reach what a hundred trees of depth 6 do.
        self.refused("the error on rows that were held out is .* another computation", KILN_BENCH_STEPS="100")

    def test_what_it_cannot_do(self):
        self.refused("no gradient boosting with the framework 'jax'; there are: lightgbm, reference, xgboost", KILN_FRAMEWORK_NAME="jax")
        self.refused("synthetic rows in one process", KILN_BENCH_DATA="/")
        self.refused("synthetic rows in one process", KILN_BENCH_RANKS="2")
        self.refused("synthetic rows in one process", KILN_BENCH_BATCH="8")
        self.refused("synthetic rows in one process", KILN_BENCH_WORKERS="1")

    def test_the_rows_are_the_same_everywhere(self):
        (rows, targets), (others, right) = boosted_trees.data()
        self.assertEqual(((100000, 32), (20000, 32), np.float32), (rows.shape, others.shape, rows.dtype))
        self.assertAlmostEqual(1.5236, boosted_trees.error(right * 0 + targets.mean(), right), places=4)

    def test_the_noise_is_the_least_error(self):
        _, (others, right) = boosted_trees.data()
        x = others.astype(np.float64)
        known = np.sin(2 * x[:, 0]) + (x[:, 1] > 0.5) * 1.5 + x[:, 2] * x[:, 3] + 0.5 * np.abs(x[:, 4])
        self.assertAlmostEqual(boosted_trees.NOISE, boosted_trees.error(known, right), places=2)

    def test_the_recipe_names_every_module(self):
        files = set(name.split("/")[-1] for name in recipe_files.recipe("gradient-boosting")["files"])
        boost = importlib.import_module("boost")
        self.assertIsInstance(boost, types.ModuleType)
        self.assertLessEqual(set(name + ".py" for name in boost.STEPS.values()) | {"boost.py", "boosted_trees.py", "harness.py"}, files)


if __name__ == "__main__":
    unittest.main()
