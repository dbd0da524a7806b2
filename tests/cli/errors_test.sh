#!/usr/bin/env bash
# What a person gets for wrong input: one clear line with its place, the right exit code, nothing half-written.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json

# Usage: 2, and the help is there.
expect 2 "$KILN"
expect 2 "$KILN" bulid -f "$matrix"
expect 2 "$KILN" build
holds "$err" '--file is required'
expect 2 "$KILN" build -f "$matrix" --jobs 0
expect 0 "$KILN" --help
for command in init lint plan show generate build publish bench select index schema doctor completion man step sif; do
  holds "$out" "  $command"
  "$KILN" "$command" --help >/dev/null || fail "no help for $command"
done
holds "$out" 'Exit codes:'
expect 0 "$KILN" --version
holds "$out" 'archspec'

# Input: 3, file, line, column, pointer and hint.
changed() { # changed FILE SED-SCRIPT: a fresh copy of the tiny catalogue with one change
  rm -rf tiny && cp -r "$tiny" tiny
  edit "$2" "tiny/$1"
}
changed tiny.json 's/"exclude"/"exlude"/'
expect 3 "$KILN" plan -f "$matrix"
holds "$err" "tiny/tiny.json:13:3: error: unknown key 'exlude' (at /exlude); did you mean 'exclude'?"
equals "$out" ''
changed tiny.json 's/"hello"\]/"helo"]/'
expect 3 "$KILN" plan -f "$matrix"
holds "$err" 'tiny/tiny.json:5:'
holds "$err" "did you mean 'hello'?"
changed tiny.json 's/\["2.10", "2.1"\]/["2.10", 2.1]/'
expect 3 "$KILN" plan -f "$matrix"
holds "$err" 'tiny/tiny.json:6:25: error:'
holds "$err" '(at /axes/version/1)'
changed tiny.json 's/"plain"\]/"zen33"]/'
expect 3 "$KILN" plan -f "$matrix"
holds "$err" 'zen33'
changed recipes/framework/hello/recipe.json 's/"versions": {/"versions": {"9": {"facts": 3},/'
expect 3 "$KILN" plan -f "$matrix"
holds "$err" 'tiny/recipes/framework/hello/recipe.json:'
changed recipes/framework/hello/recipe.json 's/distro.sh/distr.sh/'
expect 3 "$KILN" plan -f "$matrix"
holds "$err" "distr.sh"
rm -rf tiny && cp -r "$tiny" tiny
echo '{"name": "x", "axes": {' >broken.json
expect 3 "$KILN" plan -f broken.json --recipes tiny/recipes
holds "$err" 'broken.json:2:1: error: not valid JSON'
expect 3 "$KILN" plan -f absent.json --recipes tiny/recipes
holds "$err" 'absent.json'

# A matrix of 20 axes of 20 values is refused with its size: whoever visits its 20^20 cells never comes back.
"$KILN_PYTHON" -c 'import json; print(json.dumps({"name": "huge", "axes": {f"axis{i}": [str(j) for j in range(20)] for i in range(20)}}))' >huge.json
expect 3 "$KILN" plan -f huge.json --recipes tiny/recipes
holds "$err" "huge.json:1:26: error: the group 'huge' has about 2^86 cells, limit 100000; largest axes: axis0 (20 values), axis1 (20 values), axis2 (20 values) (at /axes)"

# JSON has no other bytes than UTF-8, and plans and reports name the files that they are made from.
odd=$(printf 'odd\xff')
cp -r tiny "$odd"
for files in "$odd/tiny.json" "$matrix --recipes $odd/recipes"; do
  # shellcheck disable=SC2086 # a file and an option
  expect 2 "$KILN" show -f $files --format json
  holds "$err" 'is not UTF-8 at its byte 4'
done

# kiln reports a damaged plan of the last build, and plans without it.
expect 0 "$KILN" plan -f "$matrix" --format json
id=$(json 'it["cells"][0]["id"]')
mkdir -p damaged/plans
printf '{"axes":],"id":"%s"}\n' "$id" >damaged/plans/tiny.json
expect 0 "$KILN" plan -f "$matrix" --state damaged --explain "$id"
holds "$out" 'the plan of the last build is damaged'
expect 8 "$KILN" log -f "$matrix" --state damaged "$id"
holds "$err" 'damaged/plans/tiny.json: error: the plan is damaged: '

# Cells that match nothing: 4.
expect 4 "$KILN" plan -f "$matrix" 'framework=pytorch'
holds "$err" "no cell of 'tiny' matches 'framework=pytorch'"
expect 4 "$KILN" publish -f "$matrix"
holds "$err" 'kiln build'

# No index: 8, and what makes one; a bad DSL document: 3 with its place; nothing on stdout.
expect 8 "$KILN" select --dsl "$KILN_SOURCE/matrix/dsl/stock.json"
holds "$err" 'kiln publish'
equals "$out" ''
# A wrong document is said first, index or not.
echo '{"optimisation": {"enable_opt_build": "yes"}}' >yes.json
expect 3 "$KILN" select --dsl yes.json
holds "$err" 'yes.json:1:'

# An empty index: 4.
echo '[]' >none.json
expect 0 "$KILN" index import none.json
expect 4 "$KILN" select --dsl "$KILN_SOURCE/matrix/dsl/stock.json"
equals "$out" ''
echo '{"optimisation": {"enable_opt_build": "maybe"}}' >bad.json
expect 3 "$KILN" select --dsl bad.json
holds "$err" 'bad.json:1:'
expect 3 "$KILN" select --dsl absent.json

# A choice that is misspelt is not left out in silence: 3; --lenient says so and goes on, as with what no image depends on.
mapping() { # mapping NAME CODE
  echo "{\"opt_dsl_code\": \"$2\", \"app_name\": \"$1\", \"container_name\": \"$1:1\"}"
}
mapping solver s >solver.json
expect 0 "$KILN" index import solver.json
echo '{"application": {"app_tag": "solver", "executabel": "x"}}' >noted.json
expect 0 "$KILN" select --dsl noted.json --host any
equals "$out" 'docker://solver:1'
equals "$err" "noted.json:1:39: note: unknown key 'executabel' (at /application/executabel); did you mean 'executable'?"
echo '{"application": {"app_tag": "solver"}, "optimisaton": {"enable_opt_build": true}}' >lost.json
expect 3 "$KILN" select --dsl lost.json --host any
equals "$out" ''
equals "$err" "lost.json:1:40: error: unknown key 'optimisaton' (at /optimisaton); did you mean 'optimisation'?"
expect 0 "$KILN" select --dsl lost.json --host any --lenient --json
equals "$(json 'len(it["notes"])')" 1
holds "$(json 'it["notes"][0]')" "note: unknown key 'optimisaton'"

# Of other applications, select reads how many images there are.
mapping tracer t >tracer.json
expect 0 "$KILN" index import tracer.json
expect 0 "$KILN" select --dsl noted.json --host any --explain
equals "$(tail -1 <<<"$out")" '1 image of other applications: tracer 1'
expect 0 "$KILN" select --dsl noted.json --host any --json
equals "$(json 'it["other_applications"]')" "{'tracer': 1}"
echo '{"application": {"app_tag": "solvr"}}' >near.json
expect 4 "$KILN" select --dsl near.json --host any
equals "$err" "error: no image matches; the index has no image of solvr; did you mean 'solver'?"

# A missing tool: 5, one line.
mkdir -p empty-path
expect 5 env PATH="$work/empty-path" "$KILN" build -f "$matrix" --state missing-tool
holds "$err" "the engine 'buildah' is not installed"
ln -s "$(type -P buildah || type -P true)" empty-path/buildah
expect 5 env PATH="$work/empty-path" "$KILN" build -f "$matrix" --state missing-tool
holds "$err" "'ninja' is not installed"
equals "$(wc -l <<<"$err")" 1

# Two writers of one state folder: 7, and who the first one is.
mkdir -p shared
exec 9>shared/lock
flock 9
printf 'kiln build of night by process 1' >&9
expect 7 "$KILN" build -f "$matrix" --state shared
holds "$err" 'kiln build of night by process 1'
exec 9>&-

# Schemas are JSON and name themselves.
for name in recipe matrix target site plan host dsl; do
  expect 0 "$KILN" schema "$name"
  holds "$out" 'json-schema.org'
  equals "$(json 'it["type"]')" object
done
expect 2 "$KILN" schema recipes

echo "errors: all as documented"
