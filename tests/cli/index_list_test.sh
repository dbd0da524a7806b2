#!/usr/bin/env bash
# kiln index list: patterns and a bound.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

"$KILN_PYTHON" - <<'PY' >mappings.json
import json
print(json.dumps([{"opt_dsl_code": f"code-{i}", "app_name": ["PyTorch", "openmpi"][i % 2], "version": f"2.{i}",
                   "target": {"cpu_type": ["x86", "arm"][i % 4 // 2], "acc_type": "nvidia"}, "container_name": f"site/image-{i}"}
                  for i in range(12)]))
PY
expect 0 "$KILN" index import mappings.json
expect 0 "$KILN" index retire docker://site/image-4 --reason 'wrong results'
names() { # names PATTERN...: the numbers of the images that are listed
  expect 0 "$KILN" index list "$@" --format json
  json '" ".join(sorted((i["name"].split("-")[1] for i in it), key=int))'
}

equals "$(names)" '0 1 2 3 4 5 6 7 8 9 10 11'
equals "$(names application=pytorch)" '0 2 4 6 8 10'
equals "$(names 'application=PYT*')" '0 2 4 6 8 10'
equals "$(names application=pytorch application=openmpi)" '0 1 2 3 4 5 6 7 8 9 10 11'
equals "$(names application=pytorch target=aarch64)" '2 6 10'
equals "$(names target=nvidia 'version=2.1*')" '1 10 11'
equals "$(names '*image-1?')" '10 11'
equals "$(names code-3 code-5)" '3 5'
equals "$(names state=retired)" 4
equals "$(names application=pytorch state=good)" '0 2 6 8 10'
equals "$(names application=pytorch state=untested)" '0 2 4 6 8 10' # others made them
equals "$(names --snapshot 1 state=good application=pytorch)" '0 2 4 6 8 10'

# A bound, and what it leaves out.
expect 0 "$KILN" index list application=openmpi --limit 2
equals "$(wc -l <<<"$out")" 3
equals "$err" 'note: the first 2 of 6 images'
expect 0 "$KILN" index list --limit 2 --format json
equals "$(json 'len(it)')" 2
expect 0 "$KILN" index list --limit 12
equals "$err" ''

# Nothing matches, or a key that images do not have.
expect 4 "$KILN" index list state=stale 'nothing*'
equals "$err" "error: no image of the index matches 'state=stale' 'nothing*'"
expect 2 "$KILN" index list taget=zen3
equals "$err" "error: no key of images is called 'taget'; did you mean 'target'?"
echo 'index list: ok'
