"""infer.py NETWORK: times a network's answers to batches, in the image's framework. Works under Python 2.7 and 3."""
import importlib
import os
import sys

import harness
import layers
import network_input
import numpy as np
import train

# Of the scores' mean size, from the one that is known: many layers in single precision, in another order in every framework.
TOLERANCE = 2e-3


def mean_size(scores, network, batch):
    if scores.shape != (batch, network.CLASSES):
        raise harness.Wrong("the scores have the shape %s" % (scores.shape,))
    return float(np.abs(scores.astype(np.float64)).mean())


def measure(network, settings):
    module = train.step_module(settings.framework, "")
    if not hasattr(module, "Inference"):
        raise harness.Wrong("no inference with %s" % settings.framework)
    device = module.device()
    batch = settings.batch or network.BATCH[device]
    if settings.workers:
        raise harness.Wrong("KILN_BENCH_WORKERS: this workload has no data loader")
    if settings.data:
        raise harness.Wrong("this workload has synthetic input only: leave KILN_BENCH_DATA unset")
    batches, said = network_input.synthetic(network, batch)
    inference = module.Inference(network, layers.plan(network.LAYERS, network.INPUT, module.CHANNELS_FIRST), batch, settings)
    harness.check_parameters(inference.parameters, network.PARAMETERS)
    ready = inference.put(*batches[0])
    first, samples, scores = harness.timed(lambda number: mean_size(inference.step(*ready), network, batch), settings.steps)
    # Of another batch only the first answer is known.
    expected = network.SCORES.get(batch, scores[0])
    for size in (scores[0], scores[-1]):
        harness.check_close("the mean size of the scores", size, expected, TOLERANCE)
    return {
        "network": network.__name__, "unit": "ms/batch", "samples": samples, "first": first, "parameters": inference.parameters,
        "batch": batch, "threads": settings.threads, "framework": "%s %s" % (settings.framework, module.VERSION),
        "variant": inference.variant, "device": device, "compiled": inference.compiled(),
        "result": {"what": "mean size of the scores", "ok": True, "value": scores[-1], "expected": expected},
        "input": said, "ranks": settings.ranks,
    }


def main():
    network = importlib.import_module(sys.argv[1])
    harness.report(measure(network, harness.Settings(os.environ, network.STEPS)))


if __name__ == "__main__":
    harness.run(main)
