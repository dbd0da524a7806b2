#!/usr/bin/env bash
# The library by its Python module against a process for each question, of an index of built images: samples on stdout, a line of JSON each
# (ci/bench).
#
#   benchmarks/library.sh [BUILD [IMAGES]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); IMAGES: how many are in the index (default 100000).
# `us`: microseconds a question, each the mean of a batch. docs/performance.md says what each series means.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
images=${2:-100000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$build/benchmarks/index_bench" fill built $((images / 5000)) >/dev/null
cat >ask.json <<'JSON'
{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"},
  "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"xla": true, "version": "2.4"}}}}
JSON
cat >ask.py <<'PY'
import json, sys, time
import kiln
IMAGES = int(sys.argv[1])
document = open("ask.json").read()
registry = kiln.Registry("built")


def measure(name, ask, rounds, batch):
    means = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(batch):
            ask(document, host="zen4,nvidia:sm_90")
        means.append(round((time.perf_counter() - start) / batch * 1e6, 1))
    print(json.dumps({"series": name, "us": means}), flush=True)


measure("reference", registry.reference, 4, IMAGES // 1000)  # by rows: one question for each twenty images of the application switches
for _ in range(IMAGES // 20):
    registry.reference(document, host="zen4,nvidia:sm_90")
measure("later", registry.reference, 11, 1000)  # of the snapshot in memory
measure("select", registry.select, 11, 3)
PY
for _ in 1 2 3; do
  PYTHONPATH=$(dirname "$(find prefix -name libkiln_registry.so)")/python3/dist-packages python3 ask.py "$images"
  python3 "$root/benchmarks/measure.py" process 5 prefix/bin/kiln --state built select --dsl ask.json --host zen4,nvidia:sm_90
done
