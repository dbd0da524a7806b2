#!/usr/bin/env bash
# `kiln nightly` on a real engine: verdicts and who must act, the gate, who is told, one night at a time, and what a kill leaves.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
turbo=tiny/recipes/compiler/turbo/distro.sh
cp "$turbo" turbo.good
hello=tiny/recipes/framework/hello/distro.sh
night() {
  local wanted=$1
  shift
  expect "$wanted" "$KILN" nightly -f "$matrix" "$@"
}
report() { out=$(cat .kiln/nights/tiny/latest/night.json) && json "$1"; }

# 0. Before the first night.
expect 1 "$KILN" nightly -f "$matrix" --status
holds "$out" 'no night has ended yet'

# 1. Green; the page, the JUnit report and the JSON are there and can be read.
night 0 --report out
holds "$out" 'snapshot 1 is new'
holds "$out" 'tiny, night 1: green: 7 of 7 images good, 7 built'
for file in report.html junit.xml night.json; do cmp "out/$file" ".kiln/nights/tiny/1/$file"; done
"$KILN_PYTHON" - <<'PY'
import html.parser, json, xml.etree.ElementTree
assert xml.etree.ElementTree.parse("out/junit.xml").getroot().get("tests") == "8"
class Balanced(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "rect", "circle", "polyline"): self.open.append(tag)
    def handle_endtag(self, tag): assert self.open.pop() == tag, tag
page = Balanced()
page.feed(open("out/report.html").read())
assert not page.open, page.open
night = json.load(open("out/night.json"))
assert all(image["seconds"] > 0 and image["bytes"] > 0 for image in night["images"])
PY
expect 0 "$KILN" nightly -f "$matrix" --status
holds "$out" 'all is well'

# 2. Nothing to do.
night 0
holds "$out" 'snapshot 1 stays'
holds "$out" 'night 2: green: 7 of 7 images good'
equals "$(report 'it["images"][0]["verdict"]')" unchanged

# 3. One component breaks: its images fail for one cause, the others move on.
printf 'echo no turbo today >&2\nexit 3\n' >>"$turbo"
echo 'echo day 3 >/opt/kiln-day' >>"$hello"
night 1 --format json
equals "$(json 'it["state"], it["snapshot"], it["last_green"] < it["ended"]')" 'red 2 True'
equals "$(json 'sorted({image["verdict"] for image in it["images"]})')" "['built', 'failed']"
equals "$(json 'len(it["failures"]), it["failures"][0]["actor"], len(it["failures"][0]["cells"])')" '1 recipe 3'
equals "$(json 'it["failures"][0]["exclude"]')" "[{'compiler': 'turbo'}]"
holds "$(json 'it["failures"][0]["what"]')" 'exit status 3: no turbo today'
holds "$(json '[image for image in it["images"] if image["verdict"] == "failed"][0]["end_of_log"]')" 'no turbo today'
holds "$(json '[image for image in it["images"] if image["verdict"] == "built"][0]["why"][0]')" 'framework/hello: distro.sh changed'
expect 1 "$KILN" nightly -f "$matrix" --status
holds "$out" 'the last night was red'

# 4. The exclude that the report proposes takes out what failed, and nothing else.
PYTHONPATH=$KILN_SOURCE/tests/support "$KILN_PYTHON" -B - <<'PY'
import json
from edited import replaced
entry = json.load(open(".kiln/nights/tiny/latest/night.json"))["failures"][0]["exclude"]
matrix = replaced(open("tiny/tiny.json").read(), '"exclude": [', '"exclude": [' + json.dumps(entry[0]) + ", ")
open("tiny/without.json", "w").write(replaced(matrix, '"name": "tiny"', '"name": "without"'))
PY
equals "$(report 'it["failures"][0]["includes"]')" "['tiny/tiny.json:15:5']"
expect 0 "$KILN" plan -f tiny/without.json --format json
equals "$(json '[cell["id"] for cell in it["cells"] if cell["state"] != "built"]')" "['hello-2.10-source-turbo-plain-busybox_1.35']"

# 5. A gate: what is good is not published before its jobs are green. Who is told is told of a change, once.
mkdir hook
(cd hook && exec "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/webhook.py" .) &
at_exit "kill $!"
soon test -s hook/port
CHAT=http://127.0.0.1:$(cat hook/port)/hook/a-secret-word
export CHAT
cat >site.json <<'J'
{"nightly": {"gate": [{"name": "turbo", "cells": ["compiler=turbo"]}, {"name": "plain", "cells": ["compiler=none"]}],
             "webhook": {"environment": "CHAT"}, "command": ["sh", "-c", "cat >>told"]}}
J
echo 'echo day 4 >/opt/kiln-day' >>"$hello"
echo 500 >hook/status
night 1
holds "$out" "gate 'turbo' is closed: 3 of 3 images missing"
holds "$out" "gate 'plain' is open: 4 images good"
holds "$out" 'snapshot 2 stays'
holds "$out" 'night 4: held'
holds "$err" 'warning: cannot notify the site of this night: '
holds "$err" 'the webhook answered 500'
lacks "$err" 'a-secret-word'
rm hook/status
night 1 # told now, by both
night 1 # and not again
equals "$(wc -l <hook/posted)" 1
out=$(cat hook/posted)
equals "$(json 'it["state"], it["before"], len(it["newly_failing"])')" 'held  3'
holds "$(json 'it["text"]')" 'tiny, night 5: held: 4 of 7 images good'
out=$(cat told)
equals "$(json 'it["night"]')" 5
equals "$(report '[image["failing_since"] for image in it["images"] if image["verdict"] == "failed"]')" '[3, 3, 3]'
cp turbo.good "$turbo"
night 0
holds "$out" 'night 7: green: 7 of 7 images good, 3 mended'
holds "$out" 'snapshot 3 is new'
out=$(tail -n 1 hook/posted)
equals "$(json 'it["state"], it["before"], len(it["mended"])')" 'green held 3'
echo '{"nightly": {"gate": [{"name": "none", "cells": ["compiler=tvm"]}]}}' >wrong.json
expect 4 "$KILN" --site wrong.json nightly -f "$matrix" # a gate about nothing is said, and nothing is built
holds "$err" "looking for the cells of the gate 'none'"
rm site.json

# 6. One night at a time, whoever asks; a kill is no reason to wait, and the next says that there was one.
nap="sleep 600.$$" # a name of its own among all processes
echo "echo day 8 >/opt/kiln-day; $nap" >>"$hello"
"$KILN" nightly -f "$matrix" >running.out 2>running.err &
running=$!
soon test -e .kiln/nights/tiny/running.json
soon grep -q 'start  hello' running.err
night 7
holds "$err" "another night holds $PWD/.kiln: kiln nightly of tiny by process $running on"
expect 1 "$KILN" nightly -f "$matrix" --status # the one with the wrong gate was red
holds "$out" "now: kiln nightly of tiny by process $running on"
kill -KILL "$running"
wait "$running" 2>/dev/null || true
edit "s/; $nap//" "$hello"
# Another of its steps outlives the whole of the next night's build: garbage is collected when that is gone.
(
  flock 9
  while kill -0 $$ && ! grep -q 'done   image hello:2.1-distro-fast' .err; do sleep 0.2; done
  sleep 3
) 9>.kiln/running/"$(printf '%064d' 6)" &
night 0
wait $!
lacks "$out" 'needs its files'
holds "$out" "ended without a report (process $running on"
holds "$out" 'green: 7 of 7 images good'

# 7. Asked to end: it does not wait for the step, children first, with a report, and the next goes on.
echo "echo day 10 >/opt/kiln-day; $nap" >>"$hello"
"$KILN" nightly -f "$matrix" >running.out 2>running.err &
running=$!
soon grep -q 'start  hello' running.err
start=$SECONDS
kill -TERM "$running"
status=0
wait "$running" || status=$?
equals "$status" 130
[ $((SECONDS - start)) -le 120 ] || fail "it took $((SECONDS - start)) s to end"
pgrep -f "$nap" >/dev/null && fail 'a child outlived it'
holds "$(cat running.out)" ': interrupted: '
equals "$(report 'it["state"], it["exit_code"], it["is_new_snapshot"]')" 'interrupted 130 False'
edit "s/; $nap//" "$hello"
night 0
holds "$out" 'green: 7 of 7 images good'

# 8. A night that did not run is noticed, from outside and by the next.
edit 's/"started": "[^"]*"/"started": "2020-01-01T02:00:00Z"/' .kiln/nights/tiny/latest/night.json
expect 1 "$KILN" nightly -f "$matrix" --status
holds "$out" 'overdue: the last night began at 2020-01-01T02:00:00Z'
night 0
holds "$out" 'nights did not run: the last one began at 2020-01-01T02:00:00Z'

# 9. A broken recipe is no reason not to build the others; a broken matrix is.
cp tiny/recipes/compiler/turbo/recipe.json turbo.json
edit 's/"kind"/"knid"/' tiny/recipes/compiler/turbo/recipe.json
night 1 --format json
equals "$(json 'sorted({image["verdict"] for image in it["images"]})')" "['unchanged', 'unplanned']"
holds "$(json '[image for image in it["images"] if image["verdict"] == "unplanned"][0]["what"]')" 'turbo/recipe.json:'
cp turbo.json tiny/recipes/compiler/turbo/recipe.json
echo '{' >broken.json
expect 3 "$KILN" nightly -f broken.json

# 10. With little time: first what was asked for, whatever it takes; then what fits.
cat >ask.json <<'J'
{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"},
 "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "2.1"}}}}
J
export KILN_STATE=hurried
echo 'sleep 2' >>"$hello" # the budget is less than a step takes on the fastest machine
expect 0 "$KILN" build -f "$matrix" version=2.10 library=none compiler=none method=distro # steps like these take so long
expect 0 "$KILN" publish -f "$matrix" version=2.10 library=none compiler=none method=distro
expect 4 "$KILN" select --dsl ask.json
night 0 --budget 1s --format json
equals "$(json '[image["name"] for image in it["images"] if image["verdict"] == "built"]')" "['hello:2.1-distro-fast-x86_64-busybox1.35']"
equals "$(json 'sum(image["verdict"] == "no time" for image in it["images"]), it["state"]')" '5 green'
expect 0 "$KILN" select --dsl ask.json
night 0 --budget 1h
holds "$out" '7 of 7 images good'
edit '/^sleep 2$/d' "$hello"
unset KILN_STATE

# 11. The state folder knows the reports: none is a stranger to gc.
expect 0 "$KILN" gc --all
holds "$out" 'reports of nights'
expect 1 "$KILN" nightly -f "$matrix" --status --format json
echo "nightly: $(json 'len(it["nights"])') nights"
