#!/usr/bin/env bash
# A setting that kiln tune measured, in the answer and in the job: who gets it, who does not, and a forged one.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

# world NAME CHANGE: an index in the folder NAME with one measured image of PyTorch, whose tuned setting CHANGE changes.
world() {
  "$KILN_PYTHON" - "$2" <<'PY' >world.json
import json, sys
manifest = "sha256:" + "1" * 64
host = {"cpu": "zen3", "model": "AMD EPYC", "cores": 2}
image = {"manifest": manifest, "repository": "pytorch", "tag": "fast", "immutable_tag": "fast-1", "key": "a" * 64, "cell": "fast",
         "application": "pytorch", "version": "2.6.0", "method": "distro", "optimised": True, "cpu": "x86_64_v3", "size": 1,
         "components": [{"kind": "framework", "name": "pytorch", "version": "2.6.0", "method": "distro", "optimised": True}]}
speed = {"image": manifest, "key": "a" * 64, "workload": "mlp", "unit": "ms/step", "median": 10, "low": 9.9, "high": 10.1,
         "samples": 20, "host": host, "taken": "2026-11-24T12:00:00Z"}
tuned = {"format": 1, "image": "pytorch:fast", "manifest": manifest, "key": "a" * 64, "workload": "mlp", "host": host,
         "settings": {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "close"}, "recommended": True, "result": "recommended",
         "gain": {"ratio": 1.2, "low": 1.1, "high": 1.3}, "rounds": 7, "trials": 9, "seed": 1, "kiln": "0.1.0",
         "taken": "2026-11-25T12:00:00Z"}
exec(sys.argv[1])
print(json.dumps({"images": [{"image": image, "stale": False, "failing": False, "retired": "", "measurements": [speed, tuned]}]}))
PY
  "$KILN_BUILD/tests/world_index" "$1" <world.json
}
document() { # document [KEY…]: keys of the optimisation
  printf '{"job": {"job_options": {}, "application": {"executable": "./train.py"}, "target": {"job_scheduler_type": "bash"},
    "optimisation": {"enable_opt_build": true, %s "app_type": "ai_training",
    "app_type-ai_training": {"config": {"ai_framework": "pytorch"}, "ai_framework-pytorch": {"version": "2.6"}}}}}' "${1:-}"
}
document >plain.json
document '"workload": "mlp",' >mlp.json
document '"enable_autotuning": true,' >tuned.json
document '"workload": "mlp", "enable_autotuning": false,' >off.json
document '"workload": "mnist-cnn",' >other.json
echo '{"cpu": "zen3", "model": "AMD EPYC", "cores": 2}' >here.json
echo '{"cpu": "zen3", "model": "AMD EPYC", "cores": 8}' >large.json
world state 'pass'
line='tuned for mlp: OMP_NUM_THREADS=1 OMP_PROC_BIND=close: 1.20 times as fast as the default (1.10 to 1.30), measured on AMD EPYC, 2 cores on 2026-11-25'

# 1. The explanation, for documents that ask for it, on hosts of the kind.
select_on() { "$KILN" select --state state --host "$@"; }
for asked in mlp tuned; do
  expect 0 select_on here.json --dsl "$asked.json" --explain
  equals "$(tail -n 1 <<<"$out")" "  $line"
  expect 0 select_on here.json --dsl "$asked.json" --json
  equals "$(json '(it["tuned"]["settings"]["OMP_PROC_BIND"], it["tuned"]["gain"]["low"])')" "('close', 1.1)"
done
for asked in plain off other; do
  expect 0 select_on here.json --dsl "$asked.json" --explain
  lacks "$out" tuned
done
expect 0 select_on large.json --dsl mlp.json --explain
holds "$out" '  is tuned for mlp on AMD EPYC, 2 cores, which is another kind of host; that setting is not used'
lacks "$out" 'OMP_NUM_THREADS'

# 2. The job exports it, with the gain; the document's own values come first.
job_on() { "$KILN" job --state state --runtime podman --host "$@"; }
expect 0 job_on here.json --dsl mlp.json
holds "$out" "# $line
export OMP_NUM_THREADS=1
export OMP_PROC_BIND=close
"
echo "$out" >job.sh
bash -n job.sh
expect 0 job_on here.json --dsl tuned.json --json
equals "$(json 'it["run"]["tuned"]["workload"]')" mlp
expect 0 job_on large.json --dsl mlp.json
holds "$out" '# the image is tuned for mlp on AMD EPYC, 2 cores, which is another kind of host; that setting is not used'
lacks "$out" 'export OMP'
sed 's/"executable": /"threads": 2, &/' mlp.json >threads.json
expect 0 job_on here.json --dsl threads.json
holds "$out" 'is not used: the document asks for 2 threads'
holds "$out" 'export OMP_NUM_THREADS=2'
expect 0 job_on here.json --dsl plain.json
lacks "$out" tuned

# 3. A setting of other bits, and forged ones.
world bits 'tuned["key"] = "b" * 64'
expect 0 "$KILN" select --state bits --host here.json --dsl mlp.json --explain
lacks "$out" tuned
forged() { # forged CHANGE WORDS PLACE
  rm -rf forged
  expect 3 world forged "$1" # the index reads a record as it takes it in
  holds "$err" "$2"
  holds "$err" "(at $3)"
}
forged 'tuned["gain"]["low"] = 0.9' 'its whole interval is above 1' /recommended
forged 'tuned["settings"]["A;reboot"] = "1"' "'A;reboot' is no variable that a setting may have" '/settings/A;reboot'
forged 'tuned["settings"]["KILN_BENCH_STEPS"] = "1"' 'is no variable that a setting may have' /settings/KILN_BENCH_STEPS
forged 'tuned["settings"]["A"] = "1\nreboot"' 'control character' /settings/A
forged 'tuned["settigns"] = {}' "unknown key 'settigns'" /settigns
echo 'tuned: ok'
