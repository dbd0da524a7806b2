"""boost.py: times rounds of gradient boosting, a tree each, in the image's framework."""
import importlib
import os

import boosted_trees
import harness
from harness import Wrong

STEPS = {"xgboost": "step_xgboost", "lightgbm": "step_lightgbm"}
# Of the error on rows that were held out, after all rounds: libraries cut their bins at other places.
TOLERANCE = 0.03
KNOWN = {100: 0.58}


def measure(settings):
    name = STEPS.get(settings.framework)
    if name is None:
        raise Wrong("no gradient boosting with the framework %r; there are: %s" % (settings.framework, ", ".join(sorted(STEPS))))
    if settings.data or settings.batch or settings.workers or settings.ranks > 1 or settings.compilers:
        raise Wrong("this workload learns all of its synthetic rows in one process, without a graph compiler")
    module = importlib.import_module(name)
    (rows, targets), (others, right) = boosted_trees.data()
    booster = module.Booster(rows, targets, settings.threads)
    start = boosted_trees.error(right * 0 + targets.mean(), right)
    first, samples, _ = harness.timed(lambda number: booster.grow(), settings.steps)
    reached = boosted_trees.error(booster.predict(others), right)
    if not reached < start:
        raise Wrong("the error on rows that were held out went from %.6g to %.6g: this is not learning" % (start, reached))
    known = KNOWN.get(settings.steps)
    if known is not None:
        harness.check_close("the error on rows that were held out", reached, known, TOLERANCE)
    return {
        "network": "gradient_boosting", "unit": "ms/round", "samples": samples, "first": first, "batch": len(rows), "threads": settings.threads,
        "framework": "%s %s" % (settings.framework, module.VERSION), "variant": "histograms", "device": "cpu", "compiled": False, "ranks": 1,
        "result": {"what": "error on rows that were held out", "ok": True, "value": reached, "expected": known or start},
        "input": {"kind": "synthetic", "format": "float32 in memory", "bytes": int(rows.nbytes), "bytes_per_second": None},
    }


def main():
    harness.report(measure(harness.Settings(os.environ, boosted_trees.STEPS)))


if __name__ == "__main__":
    harness.run(main)
