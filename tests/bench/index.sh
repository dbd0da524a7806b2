#!/usr/bin/env bash
# Figures of the index, whole processes and selection within one: one JSON line each on stdout.
#
#   tests/bench/index.sh [KILN [IMAGES [WORK]]]
#
# KILN: the program (default build/release/kiln); IMAGES: how many are in the index (default 100000); WORK: where the index is
# made (default a new temporary folder, removed at the end). `written` are the bytes that the process handed to write(2) and
# its like. docs/performance.md says what each figure means.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kiln=$(realpath "${1:-$root/build/release/kiln}")
images=${2:-100000}
work=${3:-}
if [[ -z $work ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
cd "$work"

figure() { # figure NAME RUNS COMMAND…
  python3 "$root/tests/bench/measure.py" "${@:2}" | python3 -c '
import json, sys
print(json.dumps({"figure": sys.argv[1], **json.load(sys.stdin)}))' "$1"
}

"$root/tests/bench/index_mappings.py" "$images" >all.json
"$root/tests/bench/index_mappings.py" 1 "$images" >one.json
cat >ask.json <<'JSON'
{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"},
  "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"xla": true}}}}
JSON
"$kiln" --version >/dev/null
figure import_all 1 "$kiln" index import all.json
figure version 5 "$kiln" --version
figure import_nothing_new 3 "$kiln" index import one.json # the first time it is new, the least is of the others
for i in 1 2 3; do
  "$root/tests/bench/index_mappings.py" 1 $((images + i)) >"more$i.json"
  figure import_one 1 "$kiln" index import "more$i.json"
done
figure select_mappings 5 "$kiln" select --dsl ask.json --host any
figure list_some 3 "$kiln" index list application=tensorflow --limit 20

# Images that were built: what a catalogue of versions, methods, targets and compilers has in common is kept once.
bench=$(dirname "$kiln")/tests/bench/index_bench
if [[ ! -x $bench ]]; then
  echo "no $bench: cmake --build build/release --target bench" >&2
  exit 0
fi
"$bench" fill built $((images / 5000)) >/dev/null
sed 's/"ai_framework-tensorflow": {/&"version": "2.4", /' ask.json >ask_version.json
figure select_all_versions 15 "$kiln" --state built select --dsl ask.json --host any
figure select_version 15 "$kiln" --state built select --dsl ask_version.json --host zen4,nvidia:sm_90
figure version_again 15 "$kiln" --version
for _ in 1 2 3; do
  printf '{"figure": "publish_one", "in_process": %s}\n' "$("$bench" publish built)"
done
printf '{"figure": "ask", "in_process": %s}\n' "$("$bench" ask built 100000)"
