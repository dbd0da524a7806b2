#!/usr/bin/env bash
# The oracle of `kiln scale` against training with 1 and 2 ranks: samples on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/ranks.sh STATE [BUILD [ROUNDS]]
#
# STATE: a state folder with a built and published PyTorch image of matrix/demo.json: kiln build -f matrix/demo.json --state STATE
# framework=pytorch library=openblas compiler=none; kiln publish likewise. BUILD: a build folder (default build/release). ROUNDS: starts of
# each (default 5). Each rank has one thread and one processor. The oracle is given two things that are measured here, and never a time of two
# ranks: the time of a sample on one rank, and latency and bandwidth of Gloo's all-reduce between two processes that do nothing else.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
state=$(cd "${1:?a state folder}" && pwd)
kiln=$(cd "${2:-$root/build/release}" && pwd)/kiln
rounds=${3:-5}
cell=(framework=pytorch library=openblas compiler=none)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

# All-reduces of 4 bytes to 64 MiB between two processes.
cat >"$work/all_reduce.sh" <<'SH'
cat >/tmp/all_reduce.py <<'PY'
import json, os, time
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
import torch
import torch.distributed as dist
rank = 1 if os.fork() == 0 else 0
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file:///tmp/store", rank=rank, world_size=2)
sizes, seconds = [], []
for power in range(0, 25, 2):
    numbers = torch.ones(2**power)
    times = []
    for _ in range(30):
        dist.barrier()
        start = time.perf_counter()
        dist.all_reduce(numbers)
        times.append(time.perf_counter() - start)
    sizes.append(4 * 2**power)
    seconds.append(sorted(times[5:])[12])
if rank == 0:
    print("all_reduce", json.dumps({"series": "all_reduce", "bytes": sizes, "seconds": seconds}))
dist.destroy_process_group()
if rank == 0:
    os.wait()
PY
python3 /tmp/all_reduce.py
SH
"$kiln" shell -f matrix/demo.json --state "$state" "${cell[@]}" <"$work/all_reduce.sh" 2>"$work/shell.err" | sed -n 's/^all_reduce //p' | tee "$work/all_reduce.json"
[ -s "$work/all_reduce.json" ] || { cat "$work/shell.err" >&2 && exit 1; }

# Networks as the oracle reads them; resnet50 it knows.
cat >"$work/mlp.json" <<'JSON'
{"name": "mlp", "input": {"channels": 1024, "side": 1}, "batch": 256, "layers": [{"repeat": 3, "layers": [{"type": "dense", "outputs": 2048}]},
  {"type": "dense", "outputs": 10}]}
JSON
cat >"$work/mnist-cnn.json" <<'JSON'
{"name": "mnist-cnn", "input": {"channels": 1, "side": 28}, "batch": 128, "layers": [{"type": "convolution", "filters": 32, "kernel": 3, "side": 26},
  {"type": "convolution", "filters": 64, "kernel": 3, "side": 24}, {"type": "pool", "side": 12}, {"type": "dense", "outputs": 128},
  {"type": "dense", "outputs": 10}]}
JSON

# medians WORKLOAD RANKS BEGUN: the median of each run of the sessions that began after BEGUN, in seconds.
medians() {
  "$kiln" bench --state "$state" --export "$work/runs.json" >/dev/null
  python3 - "$work/runs.json" "$1" "$2" "$3" <<'PY'
import json, statistics, sys
file, workload, ranks, session = sys.argv[1:]
runs = [run for run in json.load(open(file))["runs"] if run["workload"] == workload and run["output"].get("ranks", 1) == int(ranks) and run["session"] > session]
print(json.dumps([statistics.median(run["samples"][run.get("warm", 0):]) / 1000 for run in runs]))
PY
}

for workload in mlp mnist-cnn resnet50; do
  steps=30
  [ "$workload" != resnet50 ] || steps=6
  begun=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  # Alone on one processor, then two ranks of which each has one.
  taskset -c 0 "$kiln" bench -f matrix/demo.json --state "$state" "${cell[@]}" --workload "$workload" --rounds "$rounds" --steps "$steps" --ranks 1 --again >&2
  "$kiln" bench -f matrix/demo.json --state "$state" "${cell[@]}" --workload "$workload" --rounds "$rounds" --steps "$steps" --ranks 2 --again >&2
  one=$(medians "$workload" 1 "$begun") two=$(medians "$workload" 2 "$begun")
  network=$work/$workload.json batch=
  if [ "$workload" = resnet50 ]; then network=resnet50 batch='--batch 8'; fi
  python3 - "$kiln" "$network" "$batch" "$workload" "$one" "$two" "$work/all_reduce.json" <<'PY'
import json, statistics, subprocess, sys
kiln, network, batch, workload, one, two, reduced = sys.argv[1:]
one, two, reduced = json.loads(one), json.loads(two), json.load(open(reduced))
# A ring of two sends the whole once in each direction: 2 * (latency + bytes / 2 / bandwidth).
latency = reduced["seconds"][0] / 2
largest = len(reduced["bytes"]) - 1
bandwidth = reduced["bytes"][largest] / (reduced["seconds"][largest] - reduced["seconds"][0])
samples = {"mlp": 256, "mnist-cnn": 128, "resnet50": 8}[workload]
words = [kiln, "scale", "--network", network, "--strategy", "data", "--ranks", "1,2", "--seconds", repr(statistics.median(one) / samples),
         "--links", f"2:{latency!r}:{bandwidth!r}", "--json", *batch.split()]
steps = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)["strategies"][0]["steps"]
step = next(step for step in steps if step["ranks"] == 2)
print(json.dumps({"series": workload.replace("-", "_"), "one_rank": one, "two_ranks": two, "predicted": step["step_seconds"],
                  "predicted_exchange": step["gradients_seconds"]}))
PY
done
