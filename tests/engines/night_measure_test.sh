#!/usr/bin/env bash
# kiln nightly --measure: what is new or changed takes turns with its stock image after it is published, within a budget and on
# a quiet machine; a proven image that falls back makes the night red.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/loaded.sh
. "$KILN_SOURCE/tests/support/loaded.sh"
# shellcheck source=tests/support/stock_and_fast.sh
. "$KILN_SOURCE/tests/support/stock_and_fast.sh"
echo '{"name": "nightly", "workloads": [{"workload": "say"}]}' >suite.json
echo '{"formats": ["oci"], "nightly": {"update": {"proposals": 0}}}' >site.json
night() { # night EXIT OPTIONS
  local code=$1
  shift
  expect "$code" "$KILN" nightly -f tiny/tiny.json --no-update --no-gc --report report --progress none "$@"
}
report() { "$KILN_PYTHON" -c "import json; it = json.load(open('report/night.json')); print($1)"; }
gains() { report '[gain["word"] for image in it["images"] for gain in image.get("gains", {}).values()]'; }
runs() { find .kiln/bench/runs -name '*.json' 2>/dev/null | wc -l; }

# 1. What cannot be meant.
expect 2 "$KILN" nightly -f tiny/tiny.json --measure-budget 1h
expect 2 "$KILN" nightly -f tiny/tiny.json --measure suite.json --measure-budget soon
holds "$err" "--measure-budget: expected a time, found 'soon'"
expect 3 "$KILN" nightly -f tiny/tiny.json --measure tiny/tiny.json
expect 2 "$KILN" nightly -f tiny/tiny.json --measure suite.json --status
[ ! -e .kiln/nights ] || fail 'a night has begun'

# 2. A busy machine measures nothing, and the night is green all the same.
tell 40 20
load_machine
night 0 --measure suite.json
holds "$(report 'it["remarks"]')" 'not measured: say in 2 images: other processes keep '
equals "$(runs)" 0

# 3. The budget ends a session after a round, and the next night continues with it: new, proven, and published with its words.
night 0 --measure suite.json --measure-anyway --measure-budget 1s
holds "$(report 'it["remarks"]')" 'say in 2 images of hello 2.10 (new): '
holds "$(report 'it["remarks"]')" ' of 7 rounds count: the next night goes on'
cut=$(runs)
if [ "$cut" -lt 2 ] || [ "$cut" -ge 14 ]; then fail "the budget ended after $cut runs"; fi
night 0 --measure suite.json --measure-anyway
equals "$(runs)" 14
equals "$(gains)" "['proven']"
equals "$(report 'it.get("remarks", [])')" '[]'
holds "$(report 'sorted(it["phases"])')" measure
name=$(report '[image["name"] for image in it["images"] if "gains" in image][0]')
expect 0 "$KILN" inspect "$name" --gain
equals "$(json '(it["word"], it["words"][0]["ratio"])')" "('proven', 2.0)"
night 0 --measure suite.json --measure-anyway
equals "$(runs)" 14 # nothing is new
equals "$(report 'it["is_new_snapshot"]')" False

# 4. The workload changes, and what was proven is not any more.
tell 20 40
night 1 --measure suite.json --measure-anyway
equals "$(runs)" 28
equals "$(report 'it["state"]') $(gains)" "red ['slower']"
equals "$(report '[(it["cause"], it["actor"], it["subject"]) for it in it["troubles"]]')" "[('gain', 'recipe', '$name')]"
holds "$(report 'it["troubles"][0]["what"]')" 'proven before night 5, and slower by now: 0.50 times as fast as stock (0.50 to 0.50)'
holds "$(cat report/junit.xml)" 'slower by now'
expect 0 "$KILN" inspect "$name" --gain
equals "$(json 'it["word"]')" slower

# 5. What fell back is measured again in the next night, and it is red until it is proven; a night that measures nothing knows it, too.
night 1 --measure suite.json --measure-budget 1s --measure-anyway
holds "$(report 'it["remarks"]')" 'say in 2 images of hello 2.10 (fell back): '
night 1
equals "$(report 'it["troubles"][0]["since"]')" 5

# 6. A suite that names what there is not.
echo '{"name": "nightly", "workloads": [{"workload": "shout"}, {"workload": "say", "cells": ["library=slow"]}]}' >suite.json
night 1 --measure suite.json
holds "$(report 'it["remarks"]')" "not measured: there is no workload 'shout' of the suite"
holds "$(report 'it["remarks"]')" 'not measured: say: '
echo 'nightly --measure: busy, in pieces, proven, fallen back'
