#!/usr/bin/env bash
# A night in which nothing has to be done, as a whole process: samples on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/night.sh [BUILD [WORK]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); WORK: where the catalogue of 10,000 cells and its
# state folder are made (default a new temporary folder, removed at the end). The first three nights publish, collect and note
# that they did. docs/performance.md says what each series means.
set -euo pipefail

# shellcheck source=benchmarks/folders.sh
. "$(dirname "${BASH_SOURCE[0]}")/folders.sh" "${1:-}" "${2:-}"

cells=10000
python3 "$root/benchmarks/catalogue.py" catalogue "$cells"
rm -rf state
[[ $("$build/benchmarks/mark_built" catalogue state) == "$cells" ]]
night=("$kiln" nightly -f catalogue/matrix/bench.json --state state --no-update)
"$kiln" build -f catalogue/matrix/bench.json --state state >/dev/null
for _ in 1 2 3; do "${night[@]}" >/dev/null; done
for _ in 1 2 3 4 5; do
  python3 "$root/benchmarks/measure.py" night_idle 1 "${night[@]}"
  python3 "$root/benchmarks/measure.py" plan 1 "$kiln" plan -f catalogue/matrix/bench.json --state state
done
