"""The MNIST CNN of Mujkanovic et al.: times training steps and prints the measurement as one line of JSON.

Two 3×3 convolutions (1→32→64, ReLU), 2×2 max pooling, dense 9216→128 (ReLU) and 128→10, log-softmax, SGD. The data is random: a
step costs the same whatever the digits are.
"""
import importlib
import json
import os
import sys
import time

BATCH = 128
PARAMETERS = 1_199_882
WARM_STEPS = 3


def main():
    framework = os.environ.get("KILN_FRAMEWORK_NAME", "pytorch")
    if framework not in ("pytorch", "jax"):
        sys.exit(f"bench.py: no MNIST CNN for {framework}; there is one for pytorch and for jax")
    compilers = os.environ.get("KILN_COMPILERS", "").split()
    steps = int(os.environ.get("KILN_BENCH_STEPS", "30"))
    if steps < 1:
        sys.exit("bench.py: KILN_BENCH_STEPS must be at least 1")

    training = importlib.import_module(f"train_{framework}").Training(BATCH, compilers)
    if training.parameters != PARAMETERS:
        sys.exit(f"bench.py: the network has {training.parameters} parameters, not {PARAMETERS}")

    # The first step compiles. Steps are timed when one has gone by without compiling anything.
    losses = [training.step() for _ in range(WARM_STEPS)]
    while training.compiled_lately():
        losses.append(training.step())

    samples = []
    for _ in range(steps):
        start = time.perf_counter()
        losses.append(training.step())
        samples.append(round((time.perf_counter() - start) * 1000, 3))

    # The batch is the same in each step, so a network that learns at all gets better at it.
    if not losses[-1] < losses[0]:
        sys.exit(f"bench.py: the loss went from {losses[0]} to {losses[-1]}: this is not training")
    training.check_compiled()
    print(json.dumps({
        "unit": "ms/step",
        "samples": samples,
        "parameters": training.parameters,
        "batch": BATCH,
        "framework": f"{framework} {training.version}",
        "compiled": training.compiled,
        "threads": training.threads,
    }))


main()
