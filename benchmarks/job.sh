#!/usr/bin/env bash
# Job scripts beside selections: `kiln job` against the `kiln select` that is in it, and /optimise against /v1/select of one server: samples
# on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/job.sh [BUILD [IMAGES [TURNS [SECONDS]]]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); IMAGES: mappings in the index (default 100000, and 1000 for the
# server, as in serve.sh); TURNS: how often each is measured, by turns (default 15); SECONDS: of each load of the server (default 1). wrk asks
# over 64 kept connections. Both questions are one document with an infrastructure, so that the script has all of its parts. `served_…` is
# asked the same again and again, so the answers are kept ones; `new_…` never, so each is made.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kiln=$(cd "${1:-$root/build/release}" && pwd)/kiln
images=${2:-100000} turns=${3:-15} seconds=${4:-1}
work=$(mktemp -d)
cd "$work"
pids=()
end_all() {
  kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end_all EXIT

cat >job.json <<'JSON'
{"job": {"job_options": {"job_name": "train", "node_count": 1, "request_gpus": 1, "wall_time_limit": "12:00:00"}, "target": {"name": "cluster"},
  "application": {"app_type": "python", "executable": "./train.sh", "arguments": "--epochs 5"},
  "optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"},
    "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"xla": true}}}}}
JSON
cat >cluster.json <<'JSON'
{"name": "cluster", "configuration": {"scheduler": "slurm", "partitions": {"gpu": {"nnodes": 4, "node": {"ncpus": 2,
  "cpu": {"microarch": "zen3", "ncores": 32}, "memory": "512GiB", "naccel": 4, "accel": {"type": "gpu", "model": "nvidia:sm_80"}}}}}}
JSON
# fill STATE IMAGES
fill() {
  "$root/benchmarks/index_mappings.py" "$2" >mappings.json
  "$kiln" --state "$1" index import mappings.json >/dev/null
  "$kiln" --state "$1" infrastructure import cluster.json >/dev/null
}

fill many "$images"
for _ in $(seq "$turns"); do
  python3 "$root/benchmarks/measure.py" select 1 "$kiln" --state many select --dsl job.json --host zen3,nvidia:sm_80
  python3 "$root/benchmarks/measure.py" job 1 "$kiln" --state many job --dsl job.json --infrastructure cluster
done

fill served 1000
cat >post.lua <<'LUA'
local file = io.open("job.json")
wrk.method, wrk.body, wrk.headers["Content-Type"] = "POST", file:read("*a"), "application/json"
file:close()
local asked = 0
function init() math.randomseed(os.time()) asked = math.random(1e9) * 1e5 end
function request()
  asked = asked + 1
  local body = os.getenv("ASK_NEW") and wrk.body:gsub('"train"', string.format('"t%.0f"', asked)) or wrk.body
  return wrk.format(nil, nil, nil, body)
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('"rps": %.1f, "p99_ms": %.3f, "failed": %d', summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, failed))
end
LUA
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$kiln" --state served serve --listen "127.0.0.1:$port" 2>/dev/null &
pids+=("$!")
for _ in $(seq 50); do
  curl -sf -o optimised.json --json @job.json "http://127.0.0.1:$port/optimise" && break
  sleep 0.1
done
grep -q '#SBATCH --partition=gpu' optimised.json
curl -sf -o selected.json --json @job.json "http://127.0.0.1:$port/v1/select?limit=1"
# load SERIES PATH: a line of JSON.
load() {
  if [[ $1 == new_* ]]; then export ASK_NEW=1; else unset ASK_NEW; fi
  printf '{"series": "%s", %s}\n' "$1" "$(wrk -t2 -c64 -d"$seconds" --latency -s post.lua "http://127.0.0.1:$port$2" | grep '^"rps"')"
}
for _ in $(seq "$turns"); do
  load served_select '/v1/select?limit=1'
  load served_optimise /optimise
  load new_select '/v1/select?limit=1'
  load new_optimise /optimise
done
printf '{"series": "bytes", "optimise": %s, "select": %s}\n' "$(stat -c %s optimised.json)" "$(stat -c %s selected.json)"
