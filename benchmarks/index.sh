#!/usr/bin/env bash
# The index, whole processes and selection within one: samples on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/index.sh [BUILD [IMAGES [WORK]]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); IMAGES: how many are in the index (default
# 100000); WORK: where the index is made (default a new temporary folder, removed at the end). `written` are the bytes that the
# process handed to write(2) and its like. docs/performance.md says what each series means.
set -euo pipefail

# shellcheck source=benchmarks/folders.sh
. "$(dirname "${BASH_SOURCE[0]}")/folders.sh" "${1:-}" "${3:-}"
bench=$build/benchmarks/index_bench
images=${2:-100000}

measure() { python3 "$root/benchmarks/measure.py" "$@"; }

"$root/benchmarks/index_mappings.py" "$images" >all.json
"$root/benchmarks/index_mappings.py" 1 "$images" >one.json
cat >ask.json <<'JSON'
{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"},
  "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"xla": true}}}}
JSON
measure import_all 1 "$kiln" index import all.json
"$kiln" index import one.json >/dev/null
measure import_nothing_new 5 "$kiln" index import one.json
for i in 1 2 3 4 5; do
  "$root/benchmarks/index_mappings.py" 1 $((images + i)) >"more$i.json"
  measure import_one 1 "$kiln" index import "more$i.json"
done
measure recover 1 "$kiln" index recover
measure select_mappings 7 "$kiln" select --dsl ask.json --host any
measure list_some 5 "$kiln" index list application=tensorflow --limit 20

# Images that were built: what a catalogue of versions, methods, targets and compilers has in common is kept once.
"$bench" fill built $((images / 5000)) >/dev/null
sed 's/"ai_framework-tensorflow": {/&"version": "2.4", /' ask.json >ask_version.json
for ((turn = 0; turn < 15; ++turn)); do
  measure version 1 "$kiln" --version
  measure select_all_versions 1 "$kiln" --state built select --dsl ask.json --host any
  measure select_version 1 "$kiln" --state built select --dsl ask_version.json --host zen4,nvidia:sm_90
done
for _ in 1 2 3 4 5; do
  printf '{"series": "publish_one", %s\n' "$("$bench" publish built | cut -c 2-)"
done
