#!/bin/sh -eu
# Times {{name}} in the image's framework. The last line of the output is the measurement, as JSON; smaller samples are better.
#   KILN_FRAMEWORK_NAME, KILN_FRAMEWORK_VERSION   the framework in the image
#   KILN_COMPILERS                                its graph compilers, separated by blanks
#   KILN_BENCH_STEPS                              timed steps, default 30
exec python3 - <<'PYTHON'
import json
import os
import time

steps = int(os.environ.get("KILN_BENCH_STEPS", "30"))


def step():
    # Put the work here: one training step of KILN_FRAMEWORK_NAME.
    return sum(i * i for i in range(1_000_000))


for _ in range(3):  # until caches and compilers are warm
    step()
samples = []
for _ in range(steps):
    start = time.perf_counter()
    step()
    samples.append(1000 * (time.perf_counter() - start))
print(json.dumps({"unit": "ms/step", "samples": samples}))
PYTHON
