"""train.py NETWORK: times training steps of a network in the image's framework. Works under Python 2.7 and 3."""
import importlib
import os
import sys

import harness
import layers
import network_input
from harness import Wrong

# The modules that build a network, by framework, and by the way in which TensorFlow is used.
STEPS = {
    "pytorch": "step_pytorch",
    "jax": "step_jax",
    "mxnet": "step_mxnet",
    "cntk": "step_cntk",
    "tensorflow": "step_tensorflow",
    "tensorflow keras": "step_keras",
    "onnxruntime": "step_onnxruntime",
}
# Of the first loss, from the one that is known, and of how far it falls in some steps: single precision, in another order in every
# framework. What GPUs round more coarsely (TF32) is within it.
TOLERANCE = 1e-4
FALL_TOLERANCE = 0.02


def step_module(framework, variant):
    name = STEPS.get((framework + " " + variant).strip())
    if name is None:
        raise Wrong("no %straining step for the framework %r; there are: %s"
                    % (variant and variant + " ", framework, ", ".join(sorted(STEPS))))
    return importlib.import_module(name)


def check_known(known, losses):
    """`known`: the first loss and the loss after some steps. The first one proves the network, the fall its gradients and the optimiser."""
    first, steps, later = known
    harness.check_close("the first loss", losses[0], first, TOLERANCE)
    if steps < len(losses):
        harness.check_close("what the loss falls by in %d steps" % steps, losses[0] - losses[steps], first - later, FALL_TOLERANCE)


def measure(network, settings, variant):
    module = step_module(settings.framework, variant)
    if not hasattr(module, "Training"):
        raise Wrong("no training with %s" % settings.framework)
    device = module.device()
    batch = settings.batch or network.BATCH[device]
    if settings.workers and not hasattr(module, "loader"):
        raise Wrong("KILN_BENCH_WORKERS: there is no data loader for %s" % settings.framework)
    if settings.data:
        batches, said = network_input.from_files(network, batch, settings.data, settings.steps + 1)
    else:
        batches, said = network_input.synthetic(network, batch)
    plan = layers.plan(network.LAYERS, network.INPUT, module.CHANNELS_FIRST)
    training = module.Training(network, plan, batch, settings)
    harness.check_parameters(training.parameters, network.PARAMETERS)
    if settings.workers:
        loaded = module.loader(training, batches, settings)

        def step(number):
            del number
            examples, labels, processors = next(loaded)
            harness.check_workers(int(processors), settings.processors)
            return float(training.step(examples, labels))
    else:
        ready = [training.put(examples, labels) for examples, labels in batches]

        def step(number):
            return float(training.step(*ready[number % len(ready)]))
    first, samples, losses = harness.timed(step, settings.steps)
    result = harness.check_losses(losses)
    known = network.LOSSES.get(batch)
    if known is not None and not settings.data:  # over ranks it is the same, as each has the same batch
        check_known(known, losses)
    return training, {
        "network": network.__name__, "unit": "ms/step", "samples": samples, "first": first, "parameters": training.parameters, "batch": batch,
        "threads": settings.threads, "framework": "%s %s" % (settings.framework, module.VERSION), "variant": training.variant,
        "device": device, "compiled": training.compiled(), "losses": [losses[0], losses[-1]],
        "result": result, "input": said, "ranks": settings.ranks, "workers": settings.workers,
    }


def main():
    network = importlib.import_module(sys.argv[1])
    settings = harness.Settings(os.environ, network.STEPS)
    training, measurement = measure(network, settings, os.environ.get("KILN_BENCH_VARIANT", ""))
    if training.rank == 0:
        harness.report(measurement)


if __name__ == "__main__":
    harness.run(main)
