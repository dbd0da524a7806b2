#!/usr/bin/env bash
# kiln report: figures and tables of runs, and what it says of runs that it cannot draw.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
runs=$KILN_SOURCE/tests/data/figures
golden=$KILN_SOURCE/tests/data/golden/figures

# On stdout: one table a figure, and every other format.
expect 0 "$KILN" report --runs "$runs/one-host.json"
holds "$out" 'Frameworks side by side, stock images'
holds "$out" 'mnist-cnn, batch of 128, synthetic, 2 threads'
holds "$out" 'Example processor of a made-up test, 2 processors'
holds "$out" 'cntk 2.7, stock         not measured'
holds "$out" '0.73 times as fast as without'
holds "$out" 'under load'
expect 0 "$KILN" report --runs "$runs/one-host.json" --format markdown
equals "$out" "$(cat "$golden/tables.md")"
expect 0 "$KILN" report --runs "$runs/one-host.json" --figure methods --format svg
equals "$out" "$(cat "$golden/methods-mnist-cnn.svg")"
expect 0 "$KILN" report --runs "$runs/two-hosts.json" --format html
equals "$out" "$(cat "$golden/two-hosts.html")"
expect 0 "$KILN" report --runs "$runs/one-host.json" --format json
equals "$(json '[len(s["images"]) for s in it]')" '[9]'
equals "$(json 'len(it[0]["comparisons"])')" 11 # of one framework
# The table that spreadsheets read has a cell for each head in each row.
expect 0 "$KILN" report --runs "$runs/one-host.json" --runs "$runs/two-hosts.json" --format csv
equals "$("$KILN_PYTHON" -c 'import csv, sys; print({len(row) for row in csv.reader(open(sys.argv[1], newline=""))})' "$work/.out")" '{24}'

# Into a folder: the files are well-formed, and the same runs give the same bytes.
expect 0 "$KILN" report --runs "$runs/one-host.json" -o figures
equals "$out" "$(printf 'figures/%s\n' index.html frameworks-mnist-cnn.svg methods-mnist-cnn.svg compilers-mnist-cnn.svg tables.md tables.csv)"
for picture in figures/*.svg; do
  "$KILN_PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture" || fail "$picture is no XML"
done
expect 0 "$KILN" report --runs "$runs/one-host.json" -o again
diff -r figures again
expect 0 "$KILN" report --runs "$runs/one-host.json" -o csv --format csv
equals "$(ls csv)" tables.csv

# The runs of the state folder; one that comes twice is one.
expect 0 "$KILN" bench import "$runs/two-hosts.json"
expect 0 "$KILN" report --format html
equals "$out" "$(cat "$golden/two-hosts.html")"
expect 0 "$KILN" report --runs "$runs/two-hosts.json" --runs "$runs/two-hosts.json" --format html
equals "$out" "$(cat "$golden/two-hosts.html")"

# A digit that is another one is no measurement: `report` and `compare` say which file it is.
cp -r .kiln damaged
run=$(find damaged/bench/runs -name '*.json' | head -n 1)
"$KILN_PYTHON" -c 'import re, sys; text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(re.sub(r"(\"samples\":\[\d)", lambda m: m[1][:-1] + ("9" if m[1][-1] != "9" else "8"), text))' "$run"
for command in report 'bench compare stock=yes stock=no'; do
  # shellcheck disable=SC2086 # words
  expect 8 "$KILN" --state damaged $command
  holds "$err" "${run#damaged/}: a kept run is not what was written"
done

# Hosts and units are never one picture.
expect 2 "$KILN" report --figure images --workload mnist-cnn --format svg
holds "$err" 'these are 2 pictures: images-mnist-cnn (ms/step, Another processor of a made-up test, 8 processors); images-mnist-cnn-2 (ms/step, Example'
holds "$err" '--figure, --workload and --host choose'
expect 0 "$KILN" report --figure images --workload mnist-cnn --host 'Example*' --format svg
holds "$out" 'Example processor'
lacks "$out" 'Another processor'

# What is not there.
expect 4 "$KILN" report --workload osu
equals "$err" "error: no run matches --workload 'osu'; there are: mnist-cnn; resnet50"
expect 4 "$KILN" report --figure methods
equals "$err" 'error: these runs have nothing that --figure methods compares; --figure images draws them as they are'
expect 4 "$KILN" --state empty report
equals "$err" "error: no run is recorded in $work/empty/bench/runs; \`kiln bench\` records runs; --runs FILE reads those of a file"
expect 3 "$KILN" report --runs "$runs/one-hots.json"
holds "$err" "one-host.json"
expect 2 "$KILN" report --figure pie
holds "$err" 'expected frameworks, methods, compilers, scaling, images'
expect 2 "$KILN" report -o x --format table
[ ! -e x ] || fail 'wrong usage has written something'

# What is no run, with its place.
change() { # change FILE PYTHON: the runs with the first of them changed, at `r`
  "$KILN_PYTHON" - "$runs/one-host.json" "$1" "$2" <<'PY'
import json, sys
it = json.load(open(sys.argv[1]))
r = it["runs"][0]
exec(sys.argv[3])
json.dump(it, open(sys.argv[2], "w"), indent=1)
PY
}
wrong() { # wrong WORDS PYTHON: exit status 3, the place and these words
  change wrong.json "$2"
  expect 3 "$KILN" report --runs wrong.json -o wrong
  holds "$err" "$1"
  [ ! -e wrong ] || fail 'something was written'
}
wrong 'a run has at least one sample' 'r["samples"] = []'
holds "$err" '/runs/0/samples'
wrong 'a sample is greater than 0' 'r["samples"][0] = -1'
wrong "kiln does not know whether more or less of 'wallops' is better" 'r["unit"] = "wallops"'
wrong 'the run is from the future' 'r["taken"] = "2999-01-01T00:00:00Z"'
change none.json 'it["runs"] = []'
expect 4 "$KILN" report --runs none.json
equals "$err" "error: the input contains no run; \`kiln bench\` records runs"
echo 'report: ok'
