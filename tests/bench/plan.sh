#!/usr/bin/env bash
# Whole-process figures of planning: one JSON line each on stdout.
#
#   tests/bench/plan.sh [BUILD [WORK]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); WORK: where the synthetic catalogues and
# their state folders are made (default a new temporary folder, removed at the end). Times are the least of several runs, of
# kiln and of ninja by turns, so that both meet the same machine. docs/performance.md says what each figure means.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
kiln=$build/kiln
work=${2:-}
if [[ -z $work ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
cd "$work"

measure() { python3 "$root/tests/bench/measure.py" "$@"; }

# figure NAME EXPRESSION: a Python expression over what measure printed, kept in variables of their own.
declare -A measured
figure() {
  local name=$1 expression=$2 key
  local -a data=()
  for key in "${!measured[@]}"; do data+=("$key=${measured[$key]}"); done
  python3 -c '
import json, sys
class Run:
    def __init__(self, text): self.__dict__.update(json.loads(text))
values = {pair.partition("=")[0]: Run(pair.partition("=")[2]) for pair in sys.argv[3:]}
found = eval(sys.argv[2], {}, values)
print(json.dumps({"figure": sys.argv[1], **{k: round(v, 4) for k, v in found.items()}}))' "$name" "$expression" "${data[@]}"
}

for cells in 1000 10000 100000; do
  [[ -e c$cells/matrix/bench.json ]] || python3 "$root/tests/bench/catalogue.py" "c$cells" "$cells"
  if [[ ! -e s$cells/done ]]; then
    [[ $("$build/tests/bench/mark_built" "c$cells" "s$cells") == "$cells" ]]
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
ninja_graph ninja 10000

plan() { measure "$1" "$kiln" plan -f "c$2/matrix/bench.json" --state "$3"; }
less() { # less A B: of two measurements the one that took less processor time
  python3 -c 'import json, sys; print(min(sys.argv[1:], key=lambda text: json.loads(text)["cpu"]))' "$1" "$2"
}

measured[ninja]=$(measure 3 ninja -C ninja)
measured[plan]=$(plan 3 10000 s10000)
for ((turn = 0; turn < 4; ++turn)); do
  measured[ninja]=$(less "${measured[ninja]}" "$(measure 3 ninja -C ninja)")
  measured[plan]=$(less "${measured[plan]}" "$(plan 3 10000 s10000)")
done
figure 'kiln plan, 10,000 cells, nothing to do, against ninja, 10,000 edges, nothing to do' \
  '{"kiln_s": plan.wall, "ninja_s": ninja.wall, "wall_ratio": plan.wall / ninja.wall, "cpu_ratio": plan.cpu / ninja.cpu}'

# The same question over as many files as kiln looks at: each blob of the store.
files=$(find s10000/store -type f | wc -l)
ninja_graph ninja-of-files $((files / 2))
measured[files]=$(measure 3 ninja -C ninja-of-files)
for ((turn = 0; turn < 4; ++turn)); do
  measured[files]=$(less "${measured[files]}" "$(measure 3 ninja -C ninja-of-files)")
  measured[plan]=$(less "${measured[plan]}" "$(plan 3 10000 s10000)")
done
figure "kiln plan, 10,000 cells, nothing to do, against ninja that looks at as many files ($files)" \
  '{"kiln_s": plan.wall, "ninja_s": files.wall, "wall_ratio": plan.wall / files.wall, "cpu_ratio": plan.cpu / files.cpu}'

measured[build]=$(measure 5 "$kiln" build -f c10000/matrix/bench.json --state s10000)
figure 'kiln build, 10,000 cells, nothing to do' '{"wall_s": build.wall, "cpu_s": build.cpu, "against_ninja": build.cpu / ninja.cpu}'

measured[small]=$(plan 5 1000 s1000)
measured[large]=$(plan 2 100000 s100000)
measured[none]=$(measure 5 "$kiln" plan -f "$root/tests/data/tiny/tiny.json" --state none)
figure 'kiln plan, microseconds of processor time a cell' \
  '{"cells_1000": (small.cpu - none.cpu) * 1e3, "cells_10000": (plan.cpu - none.cpu) * 1e2, "cells_100000": (large.cpu - none.cpu) * 10}'
figure 'kiln plan, nothing to do: memory, bytes a cell' \
  '{"resident": (large.rss - small.rss) / 99000, "text": large.text / 100000, "beyond_text": (large.rss - small.rss) / 99000 - large.text / 100000}'

measured[fresh]=$(plan 3 10000 none)
figure 'kiln plan, 10,000 cells, all to build' '{"wall_s": fresh.wall, "cpu_s": fresh.cpu}'

measured[json]=$(measure 2 "$kiln" plan --format json -f c10000/matrix/bench.json --state s10000)
figure 'kiln plan --format json, 10,000 cells' \
  '{"wall_s": json.wall, "cpu_s": json.cpu, "megabytes": json.text / 1e6, "resident_bytes_a_cell": (json.rss - none.rss) / 1e4}'

measured[write]=$(measure 1 "$kiln" generate -f c10000/matrix/bench.json -o out)
files=$(find out -type f | wc -l)
bytes=$(du -sb out | cut -f 1)
rm -rf out
figure 'kiln generate, 10,000 cells: everything written to disk' \
  "{\"wall_s\": write.wall, \"cpu_s\": write.cpu, \"files\": $files, \"files_a_second\": $files / write.wall, \"megabytes\": $bytes / 1e6, \"resident_megabytes\": write.rss / 1e6}"

if [[ -x $build/tests/bench/plan_bench ]]; then
  KILN_BENCH_1000=c1000 KILN_BENCH_10000=c10000 KILN_BENCH_100000=c100000 "$build/tests/bench/plan_bench" \
    --benchmark_format=json --benchmark_min_time=0.2 2>/dev/null | python3 -c '
import json, sys
for one in json.load(sys.stdin)["benchmarks"]:
    print(json.dumps({"figure": one["name"], "items_a_cpu_second": round(one["items_per_second"]), "microseconds_an_item": round(1e6 / one["items_per_second"], 3)}))'
fi
