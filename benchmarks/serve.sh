#!/usr/bin/env bash
# kiln serve under load, beside a bare server on the same library: samples on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/serve.sh [BUILD [TURNS [SECONDS [IMAGES]]]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); TURNS: how often each is measured (default 15), SECONDS
# for each (default 1), IMAGES: mappings in the index (default 1000). wrk asks over 64 kept connections, by turns: the bare server with
# a word (`hello`) and with the very bytes of the answer (`hello_same`), and /v1/select (`select`: the answer with 20 others and their
# reasons; `select_short`: with one), while 5,000 slow clients and 100 with wrong tokens hold connections to kiln serve
# (serve_crowd.py; its request time is long here, so that they stay). `rss`: resident bytes of
# the server after each turn, `cpu`: hundredths of a second that it had of the processors; `least`: slow clients that were connected at
# the least; `wrong`: wrong tokens that were answered.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
kiln=$build/kiln hello=$build/benchmarks/hello_microhttpd
turns=${2:-15} seconds=${3:-1} images=${4:-1000}
ulimit -n "$(ulimit -Hn)"
work=$(mktemp -d)
cd "$work"
pids=()
end_all() {
  kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap end_all EXIT

"$root/benchmarks/index_mappings.py" "$images" >mappings.json
"$kiln" --state state index import mappings.json >/dev/null
cat >ask.json <<'JSON'
{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"},
  "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"xla": true}}}}
JSON
"$kiln" serve token --tokens tokens --name bench >/dev/null 2>&1
cat >post.lua <<'LUA'
local file = io.open("ask.json")
wrk.method, wrk.body, wrk.headers["Content-Type"] = "POST", file:read("*a"), "application/json"
file:close()
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('"rps": %.1f, "p99_ms": %.3f, "failed": %d, "requests": %d', summary.requests / summary.duration * 1e6,
                      latency:percentile(99) / 1000, failed, summary.requests))
end
LUA

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free_port)
"$kiln" --state state serve --listen "127.0.0.1:$port" --tokens tokens --request-time 600 2>/dev/null &
server=$!
pids+=("$server")
for _ in $(seq 50); do
  curl -sf -o first.json --json @ask.json "http://127.0.0.1:$port/v1/select" && break
  sleep 0.1
done

curl -sf -o short.json --json @ask.json "http://127.0.0.1:$port/v1/select?limit=1"
hello_port=$(free_port)
"$hello" "$hello_port" &
hello_pid=$!
pids+=("$hello_pid")
same_port=$(free_port)
"$hello" "$same_port" first.json &
same_pid=$!
pids+=("$same_pid")

coproc crowd { exec "$root/benchmarks/serve_crowd.py" "$port" 5000 100; }
read -r -t 60 word <&"${crowd[0]}"
[ "$word" = ready ]

# ticks PID: its processor time, in hundredths of a second.
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
# load SERIES PID PORT [QUERY]: a line of JSON.
load() {
  local before numbers
  before=$(ticks "$2")
  numbers=$(wrk -t2 -c64 -d"$seconds" --latency -s post.lua "http://127.0.0.1:$3/v1/select${4-}" | grep '^"rps"')
  printf '{"series": "%s", %s, "cpu": %s, "rss": %s}\n' "$1" "$numbers" $(($(ticks "$2") - before)) \
    "$(awk '/^VmRSS/ {print $2 * 1024}' "/proc/$2/status")"
}
for _ in $(seq "$turns"); do
  load hello "$hello_pid" "$hello_port"
  load hello_same "$same_pid" "$same_port"
  load select "$server" "$port"
  load select_short "$server" "$port" '?limit=1'
done
eval "exec ${crowd[1]}>&-"
read -r -t 60 told <&"${crowd[0]}"
python3 - "$told" <<'PY'
import json, sys
told = json.loads(sys.argv[1])
print(json.dumps({"series": "crowd", "least": told["least"], "wrong": sum(told["answers"].values()), "refused": told["answers"].get("429", 0)}))
PY
printf '{"series": "bytes", "answer": %s, "short": %s}\n' "$(stat -c %s first.json)" "$(stat -c %s short.json)"
