#!/usr/bin/env bash
# Planning, as whole processes: samples on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/plan.sh [BUILD [WORK]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); WORK: where the synthetic catalogues and
# their state folders are made (default a new temporary folder, removed at the end). Kiln and ninja run by turns, so that both
# meet the same machine. docs/performance.md says what each series means.
set -euo pipefail

# shellcheck source=benchmarks/folders.sh
. "$(dirname "${BASH_SOURCE[0]}")/folders.sh" "${1:-}" "${2:-}"

for cells in 1000 10000 100000; do
  [[ -e c$cells/matrix/bench.json ]] || python3 "$root/benchmarks/catalogue.py" "c$cells" "$cells"
  if [[ ! -e s$cells/done ]]; then
    [[ $("$build/benchmarks/mark_built" "c$cells" "s$cells") == "$cells" ]]
    "$kiln" build -f "c$cells/matrix/bench.json" --state "s$cells" >/dev/null # which keeps what the records promise
    touch "s$cells/done"
  fi
done

# ninja_graph NAME EDGES: a graph of so many edges and twice as many files, all done.
ninja_graph() {
  local name=$1 edges=$2
  if [[ ! -e $name/build.ninja ]]; then
    mkdir -p "$name/in"
    (cd "$name/in" && seq 0 $((edges - 1)) | xargs touch)
    # shellcheck disable=SC2016 # $out is ninja's
    {
      printf 'rule touch\n  command = touch %s\n' '$out'
      for ((i = 0; i < edges; ++i)); do printf 'build out/%d: touch in/%d\n' "$i" "$i"; done
    } >"$name/build.ninja"
  fi
  ninja -C "$name" >/dev/null
}
# The second is asked about as many files as kiln looks at: each blob of the store.
blobs=$(find s10000/store -type f | wc -l)
ninja_graph ninja 10000
ninja_graph ninja_of_files $((blobs / 2))
printf '{"series": "sizes", "blobs": %s}\n' "$blobs"

measure() { python3 "$root/benchmarks/measure.py" "$@"; }
plan() { measure "$1" "$2" "$kiln" plan -f "c$3/matrix/bench.json" --state "$4"; }

plan warm 1 10000 s10000
for ((turn = 0; turn < 15; ++turn)); do
  measure ninja 1 ninja -C ninja
  plan fresh 1 10000 none
  plan idle 1 10000 s10000
  measure ninja_of_files 1 ninja -C ninja_of_files
  measure build 1 "$kiln" build -f c10000/matrix/bench.json --state s10000
done

plan small 5 1000 s1000
plan large 3 100000 s100000
measure none 5 "$kiln" plan -f "$root/tests/data/tiny/tiny.json" --state none
measure json 3 "$kiln" plan --format json -f c10000/matrix/bench.json --state s10000

for _ in 1 2 3; do
  rm -rf out
  measure generate 1 "$kiln" generate -f c10000/matrix/bench.json -o out
done
printf '{"series": "generated", "files": %s, "bytes": %s}\n' "$(find out -type f | wc -l)" "$(du -sb out | cut -f 1)"
rm -rf out

if [[ -x $build/benchmarks/plan_bench ]]; then
  KILN_BENCH_1000=c1000 KILN_BENCH_10000=c10000 KILN_BENCH_100000=c100000 "$build/benchmarks/plan_bench" \
    --benchmark_format=json --benchmark_min_time=0.2 2>/dev/null | python3 -c '
import json, sys
for one in json.load(sys.stdin)["benchmarks"]:
    print(json.dumps({"series": one["name"].replace("/", "_"), "items_a_cpu_second": round(one["items_per_second"])}))'
fi
