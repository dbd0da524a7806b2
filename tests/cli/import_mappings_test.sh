#!/usr/bin/env bash
# kiln index import of long lists: they are read row by row, and taken whole or not at all.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

# list ROWS [LAST]: so many mappings, and LAST in place of the last.
list() {
  "$KILN_PYTHON" - "$@" <<'PY'
import json, sys
rows = int(sys.argv[1])
lines = [json.dumps({"opt_dsl_code": f"code-{i}", "app_name": "tensorflow", "version": f"2.{i % 20}", "enable_opt_build": "true",
                     "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": True, "cudnn": "7.6"},
                     "container_name": f"site/image-{i}:tag", "container_type": "docker"}) for i in range(rows)]
lines[-1:] = sys.argv[2:3] or lines[-1:]
print("[\n" + ",\n".join(lines) + "\n]")
PY
}
import() { expect "$1" "$KILN" --state "$2" index import "$3"; }
codes() {
  expect 0 "$KILN" --state "$1" index list --format json
  json 'len(it)'
}

# 1. More than a document may have, and a mapping again is none.
list 20000 >many.json
[ "$(stat -c %s many.json)" -gt $((4 << 20)) ] || fail 'the list is short'
import 0 state many.json
equals "$out" 'snapshot 1: 20000 mappings imported'
equals "$(codes state)" 20000
import 0 state many.json
equals "$out" 'snapshot 1: 20000 mappings imported'

# 2. A row that is wrong, at the very end, and nothing of the others is there.
list 3000 '{"opt_dsl_code": "last", "app_name": "x", "container_nmae": "i"}' >bad.json
import 3 other bad.json
holds "$err" "bad.json:3001:43: error: unknown key 'container_nmae' (at /2999/container_nmae); did you mean 'container_name'?"
head -c 300000 many.json >cut.json
import 3 other cut.json
holds "$err" 'cut.json:1123:103: error: not valid JSON: invalid string: missing closing quote'
list 10 '{"opt_dsl_code": "a", "app_name": "x", "container_name": "i", "app_name": "y"}' >twice.json
import 3 other twice.json
holds "$err" "twice.json:11:63: error: the key 'app_name' stands here a second time (at /9)"
"$KILN_PYTHON" -c 'print("[" * 20_000_000)' >bomb.json
import 3 other bomb.json
holds "$err" 'bomb.json:1:2: error: more than 4194304 bytes, the limit of a row (at /0)'
import 3 other /dev/zero
holds "$err" 'a device, not a file'
import 3 other none.json
holds "$err" "there is no file 'none.json'"
equals "$(find other/store -type f 2>/dev/null)" ''
equals "$(codes other)" 0

# 3. From a pipe too, and the last of a code wins.
expect 0 sh -c "printf '%s' '[{\"opt_dsl_code\": \"a\", \"app_name\": \"x\", \"container_name\": \"one\"}, {\"opt_dsl_code\": \"a\", \"app_name\": \"x\", \"container_name\": \"two\"}]' | '$KILN' --state other index import /dev/stdin"
equals "$out" 'snapshot 1: 1 mapping imported'
expect 0 "$KILN" --state other index list --format json
holds "$out" 'docker://two'
lacks "$out" 'docker://one'

# 4. They go out as they came in, and one is shown by its code.
expect 0 "$KILN" --state other index export --mappings
printf '%s' "$out" >exported.json
expect 0 "$KILN" --state third index import exported.json
expect 0 "$KILN" --state third index export --mappings
equals "$out" "$(cat exported.json)"
expect 0 "$KILN" --state third index show a
holds "$out" 'docker://two'
expect 2 "$KILN" --state third index export
holds "$err" '--mappings'
echo 'import: 20,000 rows, or none; and out again'
