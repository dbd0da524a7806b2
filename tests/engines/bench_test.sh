#!/usr/bin/env bash
# kiln bench: images by turns, what is recorded of them, a kill in between, suites, comparisons, and going from state to state.
# The workload `say` prints what the test wrote into its files, another text where the library fast is.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
echo '{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.10"], "method": ["distro"], "library": ["none", "fast"],
  "base": ["busybox@1.35"], "target": ["x86_64"]}}' >"$matrix"
mkdir tiny/recipes/workload/say
echo '{"description": "Says what it was told", "licenses": "Apache-2.0", "homepage": "https://example.org/say", "versions": {"1.0": {}},
  "methods": {"distro": {"script": "bench.sh", "files": ["plain", "fast"]}}}' >tiny/recipes/workload/say/recipe.json
cat >tiny/recipes/workload/say/bench.sh <<'SH'
#!/bin/sh -eu
sleep 0.1
env >&2
said=plain
if [ -e /opt/kiln/fast/version ]; then said=fast; fi
if grep -q '^full$' "$said"; then
  echo 'write error: No space left on device' >&2
  exit 1
fi
sed "s/STEPS/${KILN_BENCH_STEPS:-0}/" "$said"
SH
tell() { # tell PLAIN FAST
  echo "$1" >tiny/recipes/workload/say/plain
  echo "$2" >tiny/recipes/workload/say/fast
}
runs() { find .kiln/bench/runs -name '*.json' 2>/dev/null | wc -l; }
measurements() { find .kiln/store/measurements -name '*.json' 2>/dev/null | wc -l; }
bench() { "$KILN" bench -f "$matrix" --workload say --repeat 0 "$@"; }
kept() { # kept EXPRESSION: over the list of all runs, `it`
  cat .kiln/bench/runs/*.json | "$KILN_PYTHON" -c "import json, sys; it = [json.loads(line) for line in sys.stdin]; print($1)"
}
expect 0 "$KILN" build -f "$matrix" -j 2 --progress none
expect 0 "$KILN" publish -f "$matrix"

# 1. What is not to be believed: a clear word, exit code 1, nothing recorded.
good='{"unit": "ms/step", "samples": [90, 41, 40, 40, 41, 40, 40, 41, 40], "first": 800, "threads": 1, "steps": STEPS}'
refused() { # refused OUTPUT WORDS
  tell "$1" "$1"
  expect 1 bench library=none --rounds 1
  holds "$err" "$2"
  equals "$(runs) $(measurements)" '0 0'
}
refused 'Segmentation fault' 'is not a JSON object'
refused '{"unit": "ms/step", "samples": []}' 'has no samples'
refused '{"unit": "ms/step", "samples": [NaN]}' 'NaN, which is no number'
refused '{"unit": "ms/step", "samples": [4, -1]}' 'sample 2 is not a positive number but -1: does its clock fall?'
refused '{"unit": "ms/step", "samples": [4], "result": {"what": "loss falls", "ok": false}}' 'computed a wrong result'
tell "$good" '{"unit": "images/s", "samples": [4]}'
expect 1 bench --rounds 2
holds "$err" 'speeds of two units do not compare'
equals "$(measurements)" 1 # of the image that was measured first
rm -r .kiln/bench

# 2. By turns, in the same conditions, each start kept; warm-up is none of the speed.
tell "$good" '{"unit": "ms/step", "samples": [50, 20, 20, 21, 20, 20, 21, 20, 20], "steps": STEPS}'
export OPENBLAS_CORETYPE=ZEN OMP_NUM_THREADS=7
expect 0 bench --rounds 2 --steps 9 --again --format json
unset OPENBLAS_CORETYPE OMP_NUM_THREADS
equals "$(json '[(row["median"], row["samples"], row["runs"], row["unit"], row["stock"]) for row in it]')" \
  "[(40.0, 16, 2, 'ms/step', False), (20.0, 16, 2, 'ms/step', False)]"
equals "$(json '(it[1]["against_first"]["ratio"], it[1]["against_first"]["different"])')" '(2.0, True)'
equals "$(grep -c 'run [1-4] of 4' <<<"$err") $(grep -- '-fast-' <<<"$err" | grep -o 'run [0-9]' | tr '\n' ' ')" '4 run 2 run 3 '
equals "$(runs)" 4
equals "$(kept 'sorted((run["place"], run["round"]) for run in it)')" "[('A', 0), ('A', 1), ('B', 0), ('B', 1)]"
equals "$(kept '{tuple(sorted(run["cleared"].items())) for run in it}')" "{(('OMP_NUM_THREADS', '7'), ('OPENBLAS_CORETYPE', 'ZEN'))}"
equals "$(kept '{(run["warm"], len(run["samples"]), run["output"]["steps"]) for run in it}')" '{(1, 9, 9)}'
equals "$(kept '{run.get("first") for run in it} == {None, 800}')" True
equals "$(kept 'all(run["peak_memory"] > 0 and run["affinity"] and run["host"]["cpu"] and "load" in run["conditions"] for run in it)')" True
log=$(cat .kiln/logs/bench-*.log)
holds "$log" 'KILN_BENCH_STEPS=9'
lacks "$log" OPENBLAS_CORETYPE
lacks "$log" OMP_NUM_THREADS
equals "$(find .kiln/bench/begun -type f | wc -l)" 0
expect 0 bench --format json # on this host everything is known
equals "$(json '[row["measured_now"] for row in it]')" '[False, False]'
equals "$(runs)" 4

mkdir images
expect 0 bench library=none --rounds 1 --ranks 1,2 --data images --format json # other figures than those that are known
equals "$(json '[row["workload"] for row in it]')" "['say+data', 'say+2ranks+data']"
expect 2 bench --ranks 1,zwei
holds "$err" "--ranks: expected numbers of processes, found '1,zwei'"

# As a lesser machine: other figures than this machine's, which stay.
level=$("$KILN" host | "$KILN_PYTHON" -c 'import archspec.cpu as a, json, sys
cpu = a.TARGETS[json.load(sys.stdin)["cpu"]]
print(next((name for name in ("x86_64_v3", "x86_64_v2") if cpu > a.TARGETS[name]), ""))')
if [ -n "$level" ] && [ "$(nproc)" -gt 1 ]; then
  cp -r .kiln lesser
  expect 0 bench library=none --rounds 1 --restrict "$level" --restrict cores=1 --state lesser --format json
  equals "$(json '[(row["measured_now"], row["host"]["cores"], row["host"]["cpu"]) for row in it]')" "[(True, 1, '$level')]"
  holds "$(json 'it[0]["host"]["model"]')" " (restricted to $level, 1 of $(nproc) cores)"
  log=$(cat lesser/logs/bench-*.log)
  holds "$log" ONEDNN_MAX_CPU_ISA=
  holds "$log" ATEN_CPU_CAPABILITY=
  expect 0 bench library=none --rounds 1 --state lesser --format json
  equals "$(json '[row["measured_now"] for row in it]')" '[False]'
  rm -r lesser
fi
expect 2 bench --restrict avx2
holds "$err" "'avx2' is no restriction"
expect 2 bench --restrict cores=9999
holds "$err" 'is no less than this machine'

# 3. One image whose workload fails leaves the others; of the failed one nothing is kept.
tell "$good" 'no'
expect 1 bench --rounds 2 --again --format json
equals "$(json 'len(it)')" 1
equals "$(runs)" 8
# A full disk is no fault of the image: the comparison stops, and keeps what was measured.
cp -r .kiln/bench before
tell "$good" 'full'
expect 8 bench --rounds 2 --again
holds "$err" 'failed in hello:2.10-distro-fast-x86_64-busybox1.35: the disk is full'
equals "$(runs)" 9
rm -r .kiln/bench && mv before .kiln/bench

# 4. Killed in between, the same command goes on with what is left.
tell "$good" "$good"
bench --rounds 3 --again >/dev/null 2>killed.err &
victim=$!
has_runs() { [ "$(runs)" -ge 10 ]; }
until_true "$victim" killed.err has_runs
pkill -KILL -P "$victim" 2>/dev/null || true
kill -KILL "$victim" 2>/dev/null || true
wait "$victim" 2>/dev/null || true
before=$(runs)
if [ "$before" -lt 10 ] || [ "$before" -ge 14 ]; then fail "the kill came at $before runs"; fi
expect 0 bench --rounds 3 --again
holds "$err" "goes on: $((before - 8)) runs were done before"
equals "$(runs)" 14
equals "$(kept 'len({run["session"] for run in it if run["round"] == 2})')" 1 # it is one session

# One pair, one figure: of bench, compare, select and report, though earlier sessions said other things.
gain() { "$KILN_PYTHON" -c 'import sys; print(*("%.6f" % float(word) for word in sys.argv[1].split()))' "$1"; }
expect 0 bench --format json
equals "$(json '[row["measured_now"] for row in it]')" '[False, False]'
of_bench=$(json '" ".join(str(it[1]["against_first"][key]) for key in ("ratio", "low", "high"))')
expect 0 "$KILN" bench compare library=none library=fast --format json
equals "$(gain "$(json '" ".join(str(it["groups"][0][key]) for key in ("ratio", "low", "high"))')")" "$(gain "$of_bench")"
equals "$(json 'it["groups"][0]["runs"]')" "{'a': 3, 'b': 3}"
expect 0 "$KILN" report --format json
equals "$(gain "$(json '" ".join(str(it[0]["comparisons"][0][key]) for key in ("ratio", "low", "high"))')")" "$(gain "$of_bench")"
holds "$(json 'it[0]["images"][0]')" "'runs': 3"

# What is not built is passed over, and the rest is measured.
sed 's/\["2.10"\]/["2.10", "2.1"]/' "$matrix" >tiny/more.json
expect 0 "$KILN" bench -f tiny/more.json --workload say --format json
equals "$(json '[row["measured_now"] for row in it]')" '[False, False]'
equals "$(grep -c 'passed over, as it is not in the index' <<<"$err")" 2
expect 4 "$KILN" bench -f tiny/more.json --workload say version=2.1
holds "$err" 'is not in the index'

# Discarded runs are no part of any figure, and can be taken back.
last=$(kept 'max(run["session"] for run in it)')
expect 0 "$KILN" bench discard "session=$last"
equals "$out" '6 runs discarded'
equals "$(runs)" 8
expect 0 "$KILN" report --format json # the figures of the sessions before
lacks "$out" "$last"
expect 0 "$KILN" bench discard --restore "session=$last"
equals "$out" '6 runs restored'
expect 0 bench --format json
equals "$(json '[row["session"] == "'"$last"'" for row in it]')" '[True, True]'
expect 4 "$KILN" bench discard "session=nowhere"
expect 2 "$KILN" bench discard "colour=red"

# 5. A suite; one that names no cell says so, and runs nothing.
echo '{"name": "small", "rounds": 1, "steps": 5, "workloads": [{"workload": "say", "cells": ["library=fast"]},
  {"workload": "say", "cells": ["library=none"], "rounds": 2}]}' >suite.json
expect 0 "$KILN" bench -f "$matrix" --suite suite.json --again --format json --repeat 0
equals "$(json '[(row["workload"], row["runs"]) for row in it]')" "[('say', 1), ('say', 2)]"
holds "$err" 'part 2 of 2: say'
holds "$err" 'run 2 of 2, about '
equals "$(runs)" 17
for cells in '[]' '["library=slow"]'; do
  echo "{\"name\": \"none\", \"workloads\": [{\"workload\": \"say\", \"cells\": $cells}]}" >none.json
  expect 4 "$KILN" bench -f "$matrix" --suite none.json
done
expect 3 "$KILN" bench -f "$matrix" --suite "$matrix"
equals "$(runs)" 17

# 6. From state to state, in each format; twice is once.
for file in runs.json runs.csv runs.reframe.json; do
  expect 0 "$KILN" bench --export "$file"
  expect 0 "$KILN" --state "there-$file" bench import "$file"
  equals "$out" '17 runs imported, 0 there already; 0 measurements of images of the index'
  expect 0 "$KILN" --state "there-$file" bench import "$file"
  equals "$out" '0 runs imported, 17 there already; 0 measurements of images of the index'
  diff -r .kiln/bench/runs "there-$file/bench/runs" || fail "$file is not what was exported"
done
expect 0 "$KILN" bench import runs.json
equals "$(runs)" 17
sed 's/"taken": "20/"taken": "21/' runs.json >future.json
expect 3 "$KILN" bench import future.json
holds "$err" 'from the future'
sed 's#ms/step#images/s#; s#"place": "A"#"place": "Z"#' runs.json >other.json
expect 3 "$KILN" bench import other.json
holds "$err" "'say' is measured in ms/step here, not in images/s"
equals "$(runs)" 17

# 7. Compared: groups, files, times.
expect 0 "$KILN" bench compare runs.csv runs.json --format json
equals "$(json '{(group["ratio"], group["different"]) for group in it["groups"]}')" '{(1.0, False)}'
expect 0 "$KILN" bench compare library=none library=fast
holds "$out" 'B AGAINST A'
lacks "$out" 'not measured in turns'
equals "$(grep -c '^say ' <<<"$out")" 1
expect 0 "$KILN" bench compare since=2020-01-01 runs.json
holds "$out" 'no difference'
expect 3 "$KILN" bench compare runs.json other.json
holds "$err" 'kiln cannot compare'
expect 4 "$KILN" bench compare until=2020-01-01 runs.json

# 8. A workload with two metrics: a figure each, of one start, that `select` and `compare` know by its name.
metrics() { # metrics PREFILL DECODE
  echo "{\"metrics\": {\"prefill\": {\"unit\": \"tokens/s\", \"samples\": [$1, $1, $1, $1]}, \"decode\": {\"unit\": \"ms/token\", \"samples\": [$2, $2, $2, $2]}}, \"steps\": STEPS}"
}
tell "$(metrics 900 30)" "$(metrics 1800 60)"
expect 0 bench --rounds 2 --again --format json
equals "$(json 'sorted((row["workload"], row["median"], row["unit"], row["runs"]) for row in it)')" \
  "[('say.decode', 30.0, 'ms/token', 2), ('say.decode', 60.0, 'ms/token', 2), ('say.prefill', 900.0, 'tokens/s', 2), ('say.prefill', 1800.0, 'tokens/s', 2)]"
equals "$(json 'sorted(row["against_first"]["ratio"] for row in it if "against_first" in row)')" '[0.5, 2.0]'
equals "$(runs)" 25
expect 0 bench --format json
equals "$(json '[row["measured_now"] for row in it]')" '[False, False, False, False]'
for metric in prefill:1800.0 decode:30.0; do # each is best in another image
  expect 0 "$KILN" select hello --workload "say.${metric%:*}" --explain
  holds "$out" "${metric#*:} "
done
expect 0 "$KILN" bench compare library=none,workload=say.prefill library=fast,workload=say.prefill
holds "$out" '2.00 times as fast'
equals "$(find .kiln/bench/begun -type f | wc -l)" 0

# 9. gc --all takes them with the rest of the state.
expect 0 "$KILN" gc --all --delete
[ ! -e .kiln/bench ] || fail 'the runs are still there'
echo "bench: by turns, kept, killed, compared"
