#!/usr/bin/env bash
# kiln select --explain among many images: what they have in common first, names up to a bound.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

"$KILN_PYTHON" "$KILN_SOURCE/benchmarks/index_mappings.py" 2000 >mappings.json
expect 0 "$KILN" index import mappings.json
cat >job.json <<'JSON'
{"optimisation": {"enable_opt_build": true, "opt_build": {"cpu_type": "x86", "acc_type": "nvidia"}, "app_type": "ai_training",
  "app_type-ai_training": {"config": {"ai_framework": "tensorflow"}, "ai_framework-tensorflow": {"version": ">=1", "xla": true}}}}
JSON
# listed HEADING: how many lines stand below it.
listed() { awk -v heading="$1" '/^[^ ]/ {inside = index($0, heading) == 1} inside && /^ / {count++} END {print count + 0}' <<<"$out"; }

# 1. Each list has its bound, and says what it leaves out.
expect 0 "$KILN" select --dsl job.json --host zen4,nvidia:sm_90 --explain --limit 3
equals "$(listed 'also qualify')" 4
equals "$(listed 'do not qualify')" 4
holds "$out" 'why 181 do not qualify, nearest first:'
holds "$out" '  … and 2 reasons more, of 132 images'
holds "$out" '  … and 178 more (--limit 0 shows all)'
expect 0 "$KILN" select --dsl job.json --host zen4,nvidia:sm_90 --explain
equals "$(listed 'do not qualify')" 21
expect 0 "$KILN" select --dsl job.json --host zen4,nvidia:sm_90 --explain --limit 0
equals "$(listed 'do not qualify')" 181
lacks "$out" ' more'

# 2. As JSON.
expect 0 "$KILN" select --dsl job.json --host zen4,nvidia:sm_90 --json --limit 3
equals "$(json 'len(it["others"]), len(it["misses_by_reason"]), it["totals"]["misses"]')" '6 3 181'
equals "$(json 'sum(one["count"] for one in it["misses_by_reason"]) <= 181')" True
expect 0 "$KILN" select --dsl job.json --host zen4,nvidia:sm_90 --json --limit 0
equals "$(json 'len(it["others"]) + 1 == sum(it["totals"][kind] for kind in ("qualify", "misses"))')" True
equals "$(json 'sum(one["count"] for one in it["misses_by_reason"])')" 181

# 3. Where nothing qualifies the error names the nearest miss.
expect 4 "$KILN" select --dsl job.json --host zen4 --explain --limit 2
holds "$err" 'error: no image matches; docker://site/tensorflow:'
holds "$out" 'why 200 do not qualify, nearest first:'
expect 2 "$KILN" select --dsl job.json --host zen4 --limit 2
equals "$err" 'error: --limit bounds the output of --explain and --json; give one of them as well'

# 4. A few are named without more ado.
"$KILN_PYTHON" "$KILN_SOURCE/benchmarks/index_mappings.py" 100 >few.json
expect 0 "$KILN" --state few index import few.json
expect 4 "$KILN" --state few select --dsl job.json --host zen4 --explain
equals "$(listed 'do not qualify')" 10
lacks "$out" 'why '

echo 'explain: ok'
