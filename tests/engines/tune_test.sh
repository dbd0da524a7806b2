#!/usr/bin/env bash
# kiln tune: trials that Optuna proposes, in a real image, the comparison with the default, kills, and wrong input.
# shellcheck disable=SC2016 # what kiln and the scripts say
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/tuned_workload.sh
. "$KILN_SOURCE/tests/support/tuned_workload.sh"
tune() { "$KILN" tune -f "$matrix" --dsl job.json --space space.json "$@"; }
results() { find .kiln/bench/tuned -name '*.json' 2>/dev/null | wc -l; }
expect 0 "$KILN" build -f "$matrix" --progress none
expect 8 tune
holds "$err" 'there is no index in '
expect 0 "$KILN" publish -f "$matrix"

# 1. Wrong input: a clear word, and nothing is recorded.
wrong() { # wrong STATUS WORDS SPACE [OPTION…]
  echo "$3" >wrong.json
  expect "$1" "$KILN" tune -f "$matrix" --dsl job.json --space wrong.json "${@:4}"
  holds "$err" "$2"
}
good='{"variables": {"SPEED": {"from": 1, "to": 9}}}'
wrong 3 "the range of 'SPEED' is empty" '{"variables": {"SPEED": {"from": 9, "to": 1}}}'
wrong 3 'has 1e+12 points' '{"variables": {"A": {"from": 1, "to": 1000000}, "B": {"from": 1, "to": 1000000}}}'
wrong 3 "kiln sets 'KILN_BENCH_STEPS' itself" '{"variables": {"KILN_BENCH_STEPS": {"from": 1, "to": 2}}}'
wrong 2 'a budget of nothing' "$good" --budget 0s
wrong 2 'expected a time' "$good" --budget soon
wrong 2 '7' "$good" --rounds 6
expect 5 env KILN_PYTHON=/usr/bin/false "$KILN" tune -f "$matrix" --dsl job.json --space space.json
holds "$err" 'has no Optuna'
wrong 2 'a budget of 10 s is too small' "$good" --budget 10s
cp tiny/recipes/workload/say/bench.sh kept
for bind in crash nan; do
  edit "s/{BIND:-}/{BIND:-$bind}/" tiny/recipes/workload/say/bench.sh
  wrong 1 "workload 'say'" "$good" --seed 9
  cp kept tiny/recipes/workload/say/bench.sh
done
edit 's/{BIND:-}/{BIND:-hang}/' tiny/recipes/workload/say/bench.sh
wrong 124 'the budget was spent before the workload ended' "$good" --budget 3s --seed 9
cp kept tiny/recipes/workload/say/bench.sh
equals "$(results)" 0

# 2. Killed in between, the same command goes on; bad trials are told, and the best setting is compared, kept and shown.
kill_after() { # kill_after LINES JOURNAL COMMAND…: when the journal has so many lines
  local lines=$1 file=$2 victim
  shift 2
  "$@" >killed.out 2>killed.err &
  victim=$!
  for _ in $(seq 1200); do
    [ ! -e "$file" ] || [ "$(wc -l <"$file")" -lt "$lines" ] || break
    sleep 0.05
  done
  pkill -KILL -P "$victim" 2>/dev/null || true
  kill -KILL "$victim" 2>/dev/null || true
  wait "$victim" 2>/dev/null || true
}
rm -r .kiln/bench
expect 2 tune --trials 8 --budget 10s # makes the journal, with the default's trial
first=$(find .kiln/bench/tuning -name '*.jsonl')
kill_after 5 "$first" tune --trials 8
equals "$(results)" 0
printf '{"trial": 9, "se' >>"$first"
expect 0 tune --trials 8 --format json
holds "$err" 'goes on after '
equals "$(json '(it["recommended"], it["rounds"], len(it["trials"]))')" '(True, 7, 8)'
equals "$(json '(it["gain"]["low"] > 1, int(it["settings"]["SPEED"]) > 1, "BIND" in it["settings"])')" '(True, True, False)'
equals "$(json '({trial["end"] for trial in it["trials"]} <= {"complete", "failed", "stopped", "same"}, it["trials"][0]["set"])')" '(True, {})'
equals "$(grep -c '^tune  comparison' <<<"$err")" 14
equals "$(results)" 1
expect 0 tune --trials 8 # all is known
holds "$out" 'recommended: '
holds "$out" '  SPEED='
lacks "$err" 'comparison of'
# The index has the setting, and a question about the workload gets it.
expect 0 "$KILN" select --dsl job.json --explain
holds "$out" '  tuned for say: SPEED='
holds "$out" ' times as fast as the default ('
sed 's/"workload": "say", //' job.json >plain.json
expect 0 "$KILN" select --dsl plain.json --explain
lacks "$out" 'tuned for'
expect 0 "$KILN" tune --list --format json
equals "$(json '[(one["workload"], one["recommended"], one["trials"]) for one in it]')" "[('say', True, 8)]"
echo '{' >.kiln/bench/tuned/0.json
expect 8 "$KILN" tune --list
holds "$err" 'a result is damaged: '
rm .kiln/bench/tuned/0.json
equals "$(wc -l <"$first")" 23 # the head, the trials, the turns

# 3. The same seed gives the same trials.
sets() { "$KILN_PYTHON" -c 'import json, sys; print([line["set"] for line in map(json.loads, open(sys.argv[1]).readlines()[1:4])])' "$1"; }
before=$(sets "$first")
rm "$first"
kill_after 4 "$first" tune --trials 8 --again
equals "$(sets "$first")" "$before"
rm "$first"
echo 'tune: ok'
