#!/usr/bin/env bash
# kiln tune on a real Slurm cluster of two nodes: trials of a workload and of a training script as jobs, several at a time; the same trials after a kill;
# rounds of the comparison that share a node; a default that fails in it; a controller that is away.
# shellcheck disable=SC2016 # what kiln and the scripts say
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/slurm.sh
. "$KILN_SOURCE/tests/support/slurm.sh"
"$KILN_PYTHON" -c 'import optuna' 2>/dev/null || { echo 'SKIPPED: no Optuna (ci/setup)' && exit 77; }
slurm_min_job_age=3600 # jobs are counted
slurm_start site
# shellcheck source=tests/support/tuned_workload.sh
. "$KILN_SOURCE/tests/support/tuned_workload.sh"
cat >train.sh <<'SH2'
#!/bin/sh -eu
rate=0
for word; do case $word in --rate=*) rate=${word#*=} ;; esac done
echo "rate $rate, width ${WIDTH:-4}"
awk -v rate="$rate" -v width="${WIDTH:-4}" 'BEGIN { printf "{\"objective\": %.6f}\n", (rate - 0.5) * (rate - 0.5) + (width - 16) * (width - 16) / 1000 }'
SH2
echo '{"variables": {"--rate": {"from": 0.01, "to": 1.0, "log": true}, "WIDTH": {"from": 1, "to": 64, "log": true}}}' >rates.json
expect 0 "$KILN" build -f "$matrix" --progress none
expect 0 "$KILN" publish -f "$matrix"
cat >site.json <<'J'
{"launcher": {"slurm": {"default": {"partition": "build", "time": "5m"}, "poll": "1s", "patience": "40s"}}, "formats": ["oci"], "jobs": 2, "limits": {"retries": 1}}
J
export KILN_SITE=$work/site.json
# in_background FILE OPTION…: as tune, without a shell around it that a signal would end in its place.
in_background() { "$KILN" tune -f "$matrix" --dsl job.json --space space.json "${@:2}" >"$1" 2>&1 & }
tune() { "$KILN" tune -f "$matrix" --dsl job.json --space space.json "$@"; }
hyper() { "$KILN" tune -f "$matrix" --dsl job.json --script train.sh --space rates.json "$@"; }
jobs_named() { squeue --me --noheader --states=all --format='%j' | grep -c "^kiln-" || true; }
journal() { find .kiln/bench/tuning -name '*.jsonl'; }
sets() { "$KILN_PYTHON" -c 'import json, sys; print([line["set"] for line in map(json.loads, open(sys.argv[1])) if "trial" in line])' "$1"; }

# 1. A workload: groups of trials, then rounds of which each is one job on one node.
expect 0 tune --trials 9 --format json
equals "$(json '(it["recommended"], it["rounds"], len(it["trials"]), it["gain"]["low"] > 1)')" '(True, 7, 9, True)'
holds "$err" 'tune  a job asks a node for its description'
holds "$err" ' job '
first=$(journal)
rounds_of() { "$KILN_PYTHON" -c 'import json, sys; print([line["round"] for line in map(json.loads, open(sys.argv[1])) if "round" in line])' "$1"; }
equals "$(rounds_of "$first")" '[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]'
equals "$(jobs_named)" $((1 + 9 - $(grep -c '"end":"same"' "$first") + 7)) # the question, the trials, a job for each round
equals "$(squeue --me --noheader --states=all --format='%j %N' | sed -n 's/^kiln-.* //p' | sort -u | tr '\n' ' ')" 'site1 site2 '
equals "$(squeue --me --noheader --states=all --format='%j %h' | grep '^kiln-' | awk '{print $2}' | sort -u)" NO # Slurm puts no other job on the node
[ -z "$(find .kiln/jobs -name submission)" ] || fail "$(find .kiln/jobs)"
[ ! -e "${first%.jsonl}.trials" ] || fail 'files of jobs are left'
before=$(jobs_named)
expect 0 tune --trials 9 # all is known: a job asks what the node is, and that is all
holds "$out" 'recommended: '
equals "$(jobs_named)" $((before + 1))
expect 0 "$KILN" select --dsl job.json --explain
holds "$out" '  tuned for say: SPEED='

# 2. The same trials after a kill, whose jobs went on; and no job twice.
trials=$(sets "$first")
rm "$first"
before=$(jobs_named)
in_background "$work/.killed" --trials 9 --again
victim=$!
submitted() { [ "$(jobs_named)" -ge $((before + 4)) ]; }
slurm_wait 60 'no jobs' submitted
kill -KILL "$victim"
wait "$victim" 2>/dev/null || true
expect 0 tune --trials 9
equals "$(sets "$(journal)")" "$trials"
after=$(jobs_named)
[ $((after - before)) -le $((2 + 9 + 7 + 1)) ] || fail "$((after - before)) jobs"

# 3. Interrupted, its jobs are gone.
rm -r .kiln/bench
cp tiny/recipes/workload/say/bench.sh kept
edit 's/^speed=/sleep 30; speed=/' tiny/recipes/workload/say/bench.sh
in_background "$work/.interrupted" --trials 9
victim=$!
runs() { [ "$(squeue --me --noheader --states=RUNNING --format=%j | grep -c '^kiln-.')" -gt 0 ] && [ -n "$(find .kiln/bench -name '*.json' -path '*.trials/*' 2>/dev/null)" ]; }
slurm_wait 60 'no job runs' runs
kill -INT "$victim"
status=0
wait "$victim" || status=$?
equals "$status" 130
gone() { [ -z "$(squeue --me --noheader --states=PENDING,RUNNING,COMPLETING --format=%i)" ]; }
slurm_wait 30 'a job is left' gone
cp kept tiny/recipes/workload/say/bench.sh

# 4. A controller that is away is waited for; a node that is lost costs a job, not the tuning.
slurm_stop_controller TERM
in_background "$work/.away" --trials 4
victim=$!
sleep 3
slurm_start_controller
status=0
wait "$victim" || status=$?
equals "$status" 0
rm -r .kiln/bench

# The default fails in the comparison: that ends the tuning, and the same command starts the failed rounds again.
mkdir data
echo '{"variables": {"SPEED": {"from": 2, "to": 7}}}' >speed.json
failing() { "$KILN" tune -f "$matrix" --dsl job.json --space speed.json --trials 4 --data data "$@"; }
"$KILN" tune -f "$matrix" --dsl job.json --space speed.json --trials 4 --data data >"$work/.failing" 2>&1 &
victim=$!
slurm_wait 60 'no comparison' grep -q 'tune  comparison' "$work/.failing"
touch data/fail
status=0
wait "$victim" || status=$?
equals "$status" 1
holds "$(cat "$work/.failing")" 'told to fail'
rm data/fail
expect 0 failing
holds "$out" 'recommended: '
rm -r .kiln/bench

# 5. A training script: options and variables, real numbers by their logarithm; a table, a picture, and nothing in the index.
snapshot=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)))')
expect 0 hyper --trials 13 --budget 20m --svg trials.svg
holds "$out" 'OBJECTIVE'
holds "$out" 'train.sh in hello:2.10-'
holds "$out" ' is the best of 13 trials; the script'"'"'s own settings gave 0.394'
holds "$out" '  --rate='
holds "$(cat trials.svg)" 'the best so far'
equals "$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)))')" "$snapshot"
[ ! -e .kiln/bench/tuned ] || [ -z "$(ls .kiln/bench/tuned)" ] || fail 'a script has no setting of the image'
expect 0 hyper --trials 13 --budget 20m --format json
equals "$(json '(len(it["trials"]), it["best"]["median"] < 0.39, it["best"]["median"] == min(t["median"] for t in it["trials"] if "median" in t))')" '(13, True, True)'
script_trials=$(json '[t["set"] for t in it["trials"]]')
rm -r .kiln/bench
expect 0 hyper --trials 13 --budget 20m --format json --here # one at a time: the first ten are the same draws
equals "$(json 'len(it["trials"])')" 13
equals "$(json '[t["set"] for t in it["trials"]][:5]')" "$("$KILN_PYTHON" -c "print((${script_trials})[:5])")"

# 6. Wrong input.
wrong() { # wrong STATUS WORDS OPTION…
  expect "$1" "$KILN" tune -f "$matrix" --dsl job.json "${@:3}"
  holds "$err" "$2"
}
wrong 2 "'--rate' is an option" --space rates.json
wrong 2 '--script needs --space' --script train.sh
wrong 3 'missing.py' --script missing.py --space rates.json
echo '{"direction": "maximize", "variables": {"A": {"from": 1, "to": 2}}}' >up.json
wrong 2 'has its own direction' --space up.json
echo 'echo done' >mute.sh
wrong 1 "the last line of mute.sh is 'done'" --script mute.sh --space rates.json
echo '{}' >plain.json
KILN_SITE=$work/plain.json wrong 2 'on one machine the starts run one after the other' --space space.json --jobs 2
wrong 1 'invalid partition' --space space.json --partition missing
echo 'tune_jobs: ok'
