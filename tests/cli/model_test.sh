#!/usr/bin/env bash
# kiln model: what it needs, and the answers of its four commands from a file of runs.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
runs=$KILN_SOURCE/tests/data/figures/one-host.json

# 1. Too few, and none.
expect 3 "$KILN" model fit --state empty
holds "$err" 'error: 0 measured images are too few for a model: at least 8 are needed'
# Nine images of one workload: the guesses are better.
expect 0 "$KILN" model check --runs "$runs"
holds "$out" ': not used'

# 2. Runs of ten versions: a million parameters more are 10 ms more, and an image is a tenth faster than the one before it.
"$KILN_PYTHON" - "$runs" >made.json <<'PY'
import copy, json, sys
run = json.load(open(sys.argv[1]))["runs"][0]
made = []
for image in range(10):
    for network in range(4):
        one = copy.deepcopy(run)
        one["image"] = f"sha256:{image + 1:064x}"
        one["key"] = f"{image + 1:016x}"
        one["name"] = f"pytorch:2.{image % 5}.0-{'pip' if image % 2 else 'distro'}-bullseye"
        one["axes"].update(framework="pytorch", version=f"2.{image % 5}.0", method="pip" if image % 2 else "distro")
        one["workload"] = f"net{network}"
        one["output"]["parameters"] = 10 ** (5 + network)
        time = (10 * 4 ** network) * (0.7 if image % 2 else 1) * (1 - 0.1 * (image % 5))
        one["samples"] = [time * 1.5] + [time * (1 + 0.001 * k) for k in (-2, -1, 0, 1, 2, 0, 1, -1)]
        made.append(one)
json.dump({"format": 1, "runs": made}, sys.stdout)
PY
expect 0 "$KILN" model fit --runs made.json
holds "$out" '40 records, '
holds "$out" 'used: parameters: '
holds "$out" 'left out: batch: is the same in all records: 128'
expect 0 "$KILN" model show --runs made.json
holds "$out" 'twice the parameters: time times 1.5'
expect 0 "$KILN" model check --runs made.json --json
equals "$(json '[(check["left_out"], check.get("used"), "skipped" in check) for check in it][0::2]')" \
  "[('image', True, False), ('host', None, True)]"

# 3. A prediction has an interval; outside what was measured there is no data.
ask() { "$KILN" model predict --runs made.json --workload net1 --host host.json --set framework=pytorch --set method=pip "$@"; }
"$KILN_PYTHON" -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))["runs"][0]["host"]))' "$runs" >host.json
expect 0 ask --set version='pytorch 2.2.0' --json
equals "$(json 'it["low"] < 0.04 * 0.7 * 0.8 < it["high"] and it["check"]["used"]')" True
expect 4 ask --set parameters=1e12
holds "$err" 'no data: its parameters of 1e+12 is outside the measured range'
expect 4 ask --set framework=jax
holds "$err" "no data: "
expect 3 ask --set framwork=jax
holds "$err" "did you mean 'framework'?"
expect 2 ask --set framework
expect 4 "$KILN" model predict --runs made.json --workload net9
holds "$err" "no run of 'net9' was measured"

# 4. A host that lies, and runs of another unit.
sed 's/"cpu": "zen3"/"rates": {"triad": 90000}, &/' host.json >liar.json
expect 3 "$KILN" model predict --runs made.json --workload net1 --host liar.json
holds "$err" "the host's triad of 90000 GB/s cannot be"
sed 's,ms/step,MB/s,g' made.json >units.json
expect 3 "$KILN" model fit --runs units.json
holds "$err" 'left out: 40 in MB/s: not the time of a step'

# 5. A published model decides between images that are not measured; select tells the interval, the features and the check.
"$KILN_PYTHON" - <<'PY' >world.json
import json
def image(tag, method):
    return {"image": {"manifest": "sha256:" + tag[0] * 64, "repository": "pytorch", "tag": tag, "immutable_tag": tag + "-1", "key": tag[0] * 64,
                      "cell": tag, "application": "pytorch", "version": "2.2.0", "method": method, "cpu": "x86_64", "size": 1,
                      "components": [{"kind": "framework", "name": "pytorch", "version": "2.2.0", "method": method}]},
            "stale": False, "failing": False, "retired": "", "measurements": []}
print(json.dumps({"images": [image("a-distro", "distro"), image("b-pip", "pip")]}))
PY
"$KILN_BUILD/tests/world_index" state <world.json
printf '{"optimisation": {"enable_opt_build": false, "workload": "net1", "app_type": "ai_training",
  "app_type-ai_training": {"config": {"ai_framework": "pytorch"}, "ai_framework-pytorch": {"version": "2.2"}}}}' >job.json
sed 's/"workload": "net1", //' job.json >plain.json
choose() { "$KILN" select --state state --host host.json --dsl "$@" --json; }
chosen() { json 'it["selected"]["name"]'; }
expect 0 choose job.json
equals "$(chosen)" pytorch:a-distro
expect 4 "$KILN" model publish --state state --runs "$runs"
expect 0 "$KILN" model publish --state state --runs made.json
holds "$out" '40 records: '
expect 0 choose job.json
equals "$(chosen)" pytorch:b-pip
equals "$(json '(it["selected"]["predicted"]["low"] < 0.04 * 0.7 * 0.8 < it["selected"]["predicted"]["high"], "predicted" in it["others"][0])')" '(True, True)'
expect 0 "$KILN" select --state state --host host.json --dsl job.json
holds "$out" 'b-pip'
expect 0 "$KILN" select --state state --host host.json --dsl job.json --explain
holds "$out" '  pytorch:a-distro is predicted slower: '
holds "$out" ' (net1): '
holds "$out" "  the prediction's model, image left out: median error "
holds "$out" ': the model is better than both'
holds "$out" '; predicted slower'
# Without a workload, and without a host, nothing is predicted.
expect 0 choose plain.json
equals "$(chosen)" pytorch:a-distro
expect 0 "$KILN" select --state state --host any --dsl job.json
holds "$out" 'a-distro'
# A model that is no longer better goes; a forged one is refused.
expect 4 "$KILN" model publish --state state --runs "$runs"
holds "$err" 'the index has no model any more'
expect 0 choose job.json
equals "$(chosen)" pytorch:a-distro
"$KILN_PYTHON" - <<'PY'
import hashlib, json
content = json.dumps({"format": 1, "made": "now", "check": {}, "errors": [0.1], "records": []})
sum = hashlib.sha256(b"snapshots/model\n" + content.encode()).hexdigest()
open("state/store/snapshots/model.json", "w").write('{"checksum":"%s","content":%s}' % (sum, content))
PY
expect 3 choose job.json
holds "$err" 'snapshots/model.json'
