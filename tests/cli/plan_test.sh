#!/usr/bin/env bash
# kiln plan in all its forms, the patterns that choose cells, and what CI systems make of it.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
matrix=$tiny/tiny.json

# The document is as its schema says.
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json 'sorted(it)')" "['broken', 'cells', 'excluded', 'name', 'sharing', 'steps', 'warnings']"
equals "$(json '[len(it["cells"]), len(it["excluded"])]')" '[7, 2]'
equals "$(json 'all(set(cell) >= {"id", "axes", "tag", "key", "steps", "state", "why"} for cell in it["cells"])')" True
equals "$(json 'all(set(cell) >= {"axes", "reason"} for cell in it["excluded"])')" True
equals "$(json 'all(key in it["steps"] for cell in it["cells"] for key in cell["steps"] + cell["tests"])')" True
equals "$(json '[it["sharing"]["seconds_saved"], it["sharing"]["bytes_saved"]]')" '[None, None]'
equals "$(json 'it["sharing"]["without_sharing"] == sum(len(cell["steps"] + cell["tests"]) for cell in it["cells"])')" True
equals "$(json 'it["sharing"]["steps"] == len(it["steps"])')" True

# The summary counts what the patterns chose; nothing is invented.
expect 0 "$KILN" plan -f "$matrix"
holds "$out" '7 images: 0 built, 7 to build; 2 excluded'
holds "$out" 'time saved: not measured, bytes saved: not measured'
expect 0 "$KILN" plan -f "$matrix" compiler=none
holds "$out" '4 images: 0 built, 4 to build; 0 excluded'
lacks "$out" EXCLUDED
expect 0 "$KILN" show -f "$matrix" --stage plan compiler=none
equals "$(json '[len(it["cells"]), len(it["excluded"])]')" '[4, 0]'
all_steps=$(json 'len(it["steps"])')
expect 0 "$KILN" show -f "$matrix" --stage plan compiler=none version=2.1 library=none
[ "$(json 'len(it["steps"])')" -lt "$all_steps" ] || fail 'show prints steps that no chosen cell needs'

# The last line counts the steps of the chosen cells, as JSON does.
counted() { # counted ARGUMENTS…: steps, steps without sharing, shared steps of both forms, and whether they agree
  expect 0 "$KILN" plan -f "$matrix" "$@"
  local last
  last=$(tail -n 1 <<<"$out" | sed -E 's/^([0-9]+) steps?, ([0-9]+) without sharing: ([0-9]+) shared .*/\1 \2 \3/; s/^([0-9]+) steps?, none shared$/\1 \1 0/')
  expect 0 "$KILN" plan -f "$matrix" --format json "$@"
  equals "$last" "$(json '" ".join(str(it["sharing"][key]) for key in ("steps", "without_sharing", "shared"))')"
  equals "${last%% *}" "$(json 'len({key for cell in it["cells"] for key in cell["steps"] + cell["tests"]})')"
  equals "${last%% *}" "$(json 'len(it["steps"])')"
  steps=${last%% *}
}
counted
all_steps=$steps
counted compiler=none
[ "$steps" -lt "$all_steps" ] || fail "compiler=none: $steps of $all_steps steps"
counted version=2.1 library=none
[ "$steps" -lt "$all_steps" ] || fail "one cell: $steps of $all_steps steps"

# JSON is written cell by cell, as json.dumps would write the whole; nothing of it where a late cell is wrong.
expect 0 "$KILN" plan -f "$matrix" --format json
"$KILN_PYTHON" -c 'import json, sys; text = sys.stdin.read(); sys.exit(text != json.dumps(json.loads(text), indent=2, ensure_ascii=False, sort_keys=True) + "\n")' <<<"$out" ||
  fail 'not as JSON is indented'
cp -r "$tiny" late
sed 's/"base": \["busybox@1.35"\]/"base": ["busybox@1.35", "busybox"]/' "$matrix" >late/tiny.json
for form in json table; do
  expect 3 "$KILN" plan -f late/tiny.json --format "$form"
  equals "$out" ''
  holds "$err" 'two cells have the tag hello:2.10-distro-x86_64-busybox1.35'
done
# A damaged record of a step: what it cost is not known, and a build runs it again. The plan is whole.
mkdir -p torn/steps
expect 0 "$KILN" plan -f "$matrix" --format json
for key in $(json '" ".join(it["steps"])'); do echo '{' >"torn/steps/$key.json"; done
expect 0 "$KILN" plan -f "$matrix" --format json --state torn
equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'to build'}"
expect 0 "$KILN" plan -f "$matrix" --state torn

# What cannot be written is an error, long before the end and at the end.
full() { "$KILN" plan "$@" >/dev/full; }
"$KILN_PYTHON" "$KILN_SOURCE/benchmarks/catalogue.py" thousand 1000
for catalogue in "$matrix" thousand/matrix/bench.json; do
  for form in json table; do
    expect 8 full -f "$catalogue" --format "$form"
  done
done

# Nothing of a thousand cells is kept but a line each: the document takes no more memory than the table.
memory() { # memory ARGUMENTS…: bytes
  expect 0 env ASAN_OPTIONS=quarantine_size_mb=1:detect_leaks=0 "$KILN_PYTHON" "$KILN_SOURCE/benchmarks/measure.py" plan 1 "$KILN" plan -f thousand/matrix/bench.json "$@"
  json 'it["rss"][0]'
}
of_table=$(memory)
of_document=$(memory --format json)
of_part=$(memory --exclude framework=framework1)
[ "$of_document" -lt $((of_table + 10000000)) ] || fail "the document took $of_document bytes, the table $of_table"
[ "$of_part" -lt $((of_table + 10000000)) ] || fail "the table of a part took $of_part bytes, that of all $of_table"

# One axis: any. Different axes: all. --only is an argument by another name; --exclude takes away.
cells() { # cells ARGUMENTS…: how many are chosen
  expect 0 "$KILN" plan -f "$matrix" --format json "$@"
  json 'len(it["cells"])'
}
equals "$(cells version=2.10 version=2.1)" 7
equals "$(cells version=2.10 compiler=turbo)" 3
equals "$(cells --only version=2.10 compiler=turbo)" 3
equals "$(cells --only version=2.10 --only compiler=turbo --exclude method=source)" 2
equals "$(cells --exclude version=2.10)" 2
equals "$(cells 'hello:2.10-*' library=fast)" 2
expect 2 "$KILN" build -f "$matrix" complier=turbo
holds "$err" "there is no axis 'complier'; did you mean 'compiler'?"
expect 2 "$KILN" publish -f "$matrix" --exclude complier=turbo
expect 4 "$KILN" plan -f "$matrix" compiler=turbos
holds "$err" "did you mean 'turbo'?"
expect 4 "$KILN" plan -f "$matrix" version=2.1 compiler=turbo
holds "$err" 'matches all of: version=2.1 compiler=turbo'
expect 0 "$KILN" plan -f "$matrix" --exclude compiler=xla
holds "$err" "warning: --exclude 'compiler=xla' matches no cell"

# A block a cell, with every reason and every step; no line is wider than a terminal.
expect 0 "$KILN" plan -f "$matrix" --explain version=2.1 library=none
holds "$out" '  state  to build'
holds "$out" '  why    new image: there is no last plan'
holds "$out" '  image  hello:2.1'
holds "$out" '    to run  '

# Dry run: steps, tests and images.
expect 0 "$KILN" build -f "$matrix" -n version=2.1 library=none
holds "$out" 'step   '
holds "$out" 'test   '
holds "$out" 'image  '
equals "$(tail -n 1 <<<"$out")" "$(grep -c '^step\|^test' <<<"$out") steps and tests, 1 image"

# Pictures: shared steps once; patterns choose.
expect 0 "$KILN" plan -f "$matrix" --graph dot
equals "$(grep -c 'shape=box3d' <<<"$out")" 7
equals "$(grep -c 'label="busybox 1.35' <<<"$out")" 1
if command -v dot >/dev/null; then dot -Tsvg <<<"$out" | grep '</svg>' >/dev/null || fail 'Graphviz cannot draw it'; fi
expect 0 "$KILN" plan -f "$matrix" --graph mermaid version=2.1
equals "$(head -n 4 <<<"$out" | tail -n 1)" 'flowchart LR'
equals "$(grep -c '\[\[' <<<"$out")" 2

# GitHub: a matrix object a line; the example's own lines make the array of the two-level workflow.
expect 0 "$KILN" plan -f "$matrix" --format github
equals "$(wc -l <<<"$out")" 1
equals "$(json '[len(it["include"]), sorted(it["include"][0])]')" "[7, ['axes', 'id', 'image', 'platform']]"
whole=$out
expect 0 "$KILN" plan -f "$matrix" --format github --chunk 1
equals "$out" "$whole"
expect 4 "$KILN" plan -f "$matrix" --format github --chunk 2
"$KILN_PYTHON" - "$KILN_SOURCE/tests/data/tiny" <<'PYTHON'
import json, pathlib, sys
tiny = pathlib.Path(sys.argv[1])
versions = [f"2.{i}" for i in range(300)]
folder = pathlib.Path("many/recipes")
for recipe in (tiny / "recipes").glob("*/*"):
    target = folder / recipe.relative_to(tiny / "recipes")
    target.mkdir(parents=True)
    for file in recipe.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
hello = folder / "framework/hello/recipe.json"
lines = hello.read_text().splitlines()
text = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
recipe = json.loads(text)
recipe["versions"] = {version: recipe["versions"]["2.10"] for version in versions}
for method in recipe["methods"].values():
    method.pop("versions", None)
hello.write_text(json.dumps(recipe))
pathlib.Path("many/many.json").write_text(json.dumps({"name": "many", "axes": {
    "framework": ["hello"], "version": versions, "method": ["distro"], "base": ["busybox@1.35"], "target": ["x86_64_v2"]}}))
PYTHON
expect 0 "$KILN" plan -f many/many.json --format github
equals "$(while read -r line; do out=$line && json 'len(it["include"])'; done <<<"$out" | paste -sd' ')" '256 44'
expect 0 "$KILN" plan -f many/many.json --format github --chunk 2
equals "$(json 'len(it["include"])')" 44
expect 0 "$KILN" plan -f many/many.json --graph mermaid
holds "$err" 'Mermaid draws at most 500 edges'

if /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
  mkdir -p kiln/bin && ln -s "$KILN" kiln/bin/kiln
  /usr/bin/python3 - "$KILN_SOURCE" >step.sh <<'PYTHON'
import sys, yaml
root = sys.argv[1]
workflow, cells = (yaml.safe_load(open(f"{root}/ci/github/{name}.yml")) for name in ("kiln", "kiln-cells"))
assert workflow["jobs"]["cells"]["uses"].endswith("/kiln-cells.yml")
assert set(workflow["jobs"]["cells"]["with"]) == set(cells[True]["workflow_call"]["inputs"])
print(next(step["run"] for step in workflow["jobs"]["plan"]["steps"] if step.get("id") == "plan"))
gitlab = [yaml.safe_load(open(f"{root}/ci/gitlab/{name}.yml")) for name in (".gitlab-ci", "cells")]
assert gitlab[0]["cells"]["trigger"]["include"][0] == {"artifact": "cells.yml", "job": "plan"}
PYTHON
  expect 0 env GITHUB_OUTPUT="$work/output" KILN_FILE=many/many.json sh -e step.sh
  out=$(sed 's/^chunks=//' output)
  equals "$(json '[len(chunk["include"]) for chunk in it]')" '[256, 44]'
  # GitLab reads JSON as YAML.
  expect 0 "$KILN" plan -f "$matrix" --format gitlab
  printf '%s' "$out" >cells.yml
  equals "$(/usr/bin/python3 -c 'import json, yaml; print(yaml.safe_load(open("cells.yml")) == json.load(open("cells.yml")))')" True
fi
expect 0 "$KILN" plan -f "$matrix" --format gitlab
equals "$(json 'len([job for job in it if job.startswith("cell ")])')" 7
equals "$(json '{job.get("extends") for name, job in it.items() if name.startswith("cell ")}')" "{'.cell'}"
equals "$(json 'it[".cell"]["needs"]')" "[{'job': 'plan', 'pipeline': '\$PARENT_PIPELINE_ID'}]"
equals "$(json '".kiln/logs/" in it[".cell"]["artifacts"]["paths"]')" True
# Recipes of one's own that name kiln's: these are read as well, and one's own win. A kiln that has none beside it says how to name them.
mkdir -p own/recipes/framework/ours alone/bin
echo '{"description": "Ours", "licenses": "MIT", "homepage": "https://example.org/", "versions": {"1.0": {}}, "methods": {"distro": {"script": "x.sh"}}}' \
  >own/recipes/framework/ours/recipe.json
echo true >own/recipes/framework/ours/x.sh
echo '{"name": "ours", "axes": {"framework": ["ours"], "version": ["1.0"], "method": ["distro"], "base": ["debian@trixie"], "target": ["zen3"]}}' >own/ours.json
expect 0 "$KILN" plan -f own/ours.json --format json
equals "$(json 'len(it["cells"])')" 1
cp "$KILN" alone/bin/kiln
expect 3 alone/bin/kiln plan -f own/ours.json
holds "$err" "no recipe for base 'debian'"
holds "$err" "warning: only these recipes are read: --recipes own/recipes; kiln's own are not"
expect 0 alone/bin/kiln plan -f own/ours.json --recipes "$KILN_SOURCE/recipes" --recipes own/recipes
lacks "$err" "kiln's own"
echo "plan: every form, every pattern"
