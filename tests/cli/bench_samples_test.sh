#!/usr/bin/env bash
# ci/bench keeps the raw samples of a benchmark, with host, commit and load, and nothing of one that failed.
# shellcheck disable=SC2016 # what the scripts expand
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
mkdir -p tree/ci tree/benchmarks
cp "$KILN_SOURCE/ci/bench" tree/ci
cp "$KILN_SOURCE/benchmarks/measure.py" tree/benchmarks
git -c init.defaultBranch=main init -q tree
git -C tree -c user.name=n -c user.email=e commit -q --allow-empty -m first
bench() { "$KILN_PYTHON" -B tree/ci/bench "$@"; }
script() { # script LINES: benchmarks/some.sh
  printf '#!/bin/sh\n%s\n' "$1" >tree/benchmarks/some.sh
  chmod +x tree/benchmarks/some.sh
}
samples() { # samples EXPRESSION: of the file, as `it`
  "$KILN_PYTHON" -c 'import json, sys; it = json.load(open("tree/docs/samples/some.json")); print(eval(sys.argv[1]))' "$1"
}

# Lines of one series are put together; what the machine was is said.
script 'echo "{\"series\": \"a\", \"cpu\": 1.5}"; echo "{\"series\": \"b\", \"wall\": [2, 3]}"; echo "{\"series\": \"a\", \"cpu\": [2.5]}"; echo "$1"'
expect 0 bench some '{"series": "c", "n": 4}'
equals "$(samples 'it["series"]')" "{'a': {'cpu': [1.5, 2.5]}, 'b': {'wall': [2, 3]}, 'c': {'n': [4]}}"
equals "$(samples 'it["bench"], it["format"]')" "('some', 1)"
equals "$(samples 'it["commit"]')" "$(git -C tree rev-parse --short=12 HEAD)-dirty" # its scripts are not committed
equals "$(samples 'it["host"]["cores"]')" "$("$KILN_PYTHON" -c 'import os; print(os.cpu_count())')"
equals "$(samples 'all(it["conditions"][key] >= 0 for key in ("load", "load_after"))')" True
git -C tree add .
git -C tree -c user.name=n -c user.email=e commit -q -m second
echo '# Changed' >tree/README.md # no code
expect 0 bench some '{"series": "c", "n": 4}'
equals "$(samples 'it["commit"]')" "$(git -C tree rev-parse --short=12 HEAD)"

# measure.py: each run, of a command that ends well.
script '"$KILN_PYTHON" "$(dirname "$0")/measure.py" sleep 2 sh -c "sleep 0.05; echo four"'
expect 0 bench some
equals "$(samples 'len(it["series"]["sleep"]["wall"]), it["series"]["sleep"]["text"], it["series"]["sleep"]["wall"][0] >= 0.05')" '(2, [5, 5], True)'
expect 1 "$KILN_PYTHON" tree/benchmarks/measure.py fails 3 false
equals "$out" ''

# Nothing is kept of what failed, of nothing, and of what is no measurement.
cp tree/docs/samples/some.json before.json
for lines in 'echo "{\"series\": \"a\", \"cpu\": 1}"; exit 3' 'true' 'echo hello' 'echo "{\"cpu\": 1}"' 'echo "{\"series\": \"a\", \"cpu\": \"1\"}"' \
  'echo "{\"series\": \"a\", \"cpu\": NaN}"'; do
  script "$lines"
  expect 1 bench some
  cmp before.json tree/docs/samples/some.json
done
expect 2 bench absent
holds "$err" "error: there is no benchmark 'absent'; there are some"
expect 2 bench
expect 0 bench --help
echo 'bench_samples: ok'
