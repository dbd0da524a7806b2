#!/usr/bin/env bash
# kiln select -f: where the index has no answer, the cell of a matrix that would be one. Nothing is built here.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
question() { # question FRAMEWORK VERSION [OPTION]
  printf '{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "%s"},
  "ai_framework-%s": {"version": "%s"%s}}}}' "$1" "$1" "$2" "${3:-}"
}
question hello 2.1 >fast.json
question hello 2.1 ', "turbo": true' >turbo.json
question solver 1 >solver.json
ask() { "$KILN" select --host x86_64 --dsl "$@"; }
cell=hello-2.1-distro-fast-plain-busybox_1.35
image=hello:2.1-distro-fast-x86_64-busybox1.35

# 1. Named in the error, with --explain and with --json; without an index, too. Nothing is written.
expect 4 ask fast.json -f "$matrix"
equals "$out" ''
equals "$err" "error: no image matches; the index is empty; the cell $cell of $matrix would match: build and publish it, or --build-if-missing"
expect 4 ask fast.json -f "$matrix" --explain
holds "$out" "would match, once it is built: the cell $cell of $matrix
  $image
  built for x86_64; host x86_64 runs it"
holds "$out" "  kiln build -f $matrix $cell && kiln publish -f $matrix $cell"
expect 4 ask fast.json -f "$matrix" --json
equals "$(json '(it["selected"], it["would_match"]["matrix"], it["would_match"]["cell"], it["would_match"]["name"])')" \
  "(None, '$matrix', '$cell', '$image')"
equals "$(json 'it["would_match"]["reasons"][0]')" 'built for x86_64; host x86_64 runs it'
[ ! -e .kiln ] || fail 'a question wrote something'
# What is printed is a cell that the other commands know.
expect 0 "$KILN" plan -f "$matrix" "$cell" --format json
equals "$(json '[one["id"] for one in it["cells"]]')" "['$cell']"

# The same question without a document.
expect 4 "$KILN" select hello@2.1 --host x86_64 -f "$matrix"
equals "$err" "error: no image matches; the index is empty; the cell $cell of $matrix would match: build and publish it, or --build-if-missing"

# 2. No cell would match: the nearest one says why. Graph compilers are known by the recipes beside the matrix.
expect 4 ask turbo.json -f "$matrix"
equals "$err" "error: no image matches; the index is empty; no cell of $matrix would match; nearest $cell: asks for turbo; this is without"
expect 4 ask turbo.json -f "$matrix" --json
equals "$(json '(it["nearest_cell"]["cell"], it["nearest_cell"]["failed"])')" "('$cell', 'asks for turbo; this is without')"
expect 4 ask solver.json -f "$matrix"
holds "$err" "no cell of $matrix is of that application"
expect 4 "$KILN" select --host power9le --dsl fast.json -f "$matrix"
holds "$err" "nearest hello-2.1-distro-fast-plain-busybox_1.35: built for x86_64; host is ppc64le"

# 3. With an index: the image that is nearest, then the cell. Where the index has an answer, matrices are not read.
echo '[{"opt_dsl_code": "h", "app_name": "hello", "version": "2.9", "container_name": "hello:2.9", "enable_opt_build": true},
  {"opt_dsl_code": "s", "app_name": "solver", "version": "1", "container_name": "solver:1", "enable_opt_build": true}]' >mappings.json
expect 0 "$KILN" index import mappings.json
expect 4 ask fast.json -f "$matrix"
equals "$err" "error: no image matches; docker://hello:2.9: asks for 2.1; this is 2.9; the cell $cell of $matrix would match: build and publish it, or --build-if-missing"
echo '{"name": "bad", "axes": {"framework": ["hello"], "versoin": ["2.1"]}}' >tiny/bad.json
expect 0 ask solver.json -f tiny/bad.json
equals "$out" 'docker://solver:1'
expect 0 "$KILN" select solver --host x86_64
equals "$out" 'docker://solver:1'
expect 0 "$KILN" select solver@1 --workload decode --host x86_64 --explain
expect 4 "$KILN" select slover --host x86_64
equals "$err" "error: no image matches; the index has no image of slover; did you mean 'solver'?"
expect 2 "$KILN" select
equals "$err" 'error: kiln select needs --dsl FILE or the name of an application; for example: kiln select pytorch'
expect 2 "$KILN" select solver.json
equals "$err" "error: 'solver.json' is a file; ask by a document: kiln select --dsl solver.json"
expect 2 "$KILN" select solver --dsl solver.json
equals "$err" "error: 'solver' and --dsl do not go together; the document names the application"
expect 2 "$KILN" select --workload decode --dsl solver.json
equals "$err" 'error: --workload and --dsl do not go together; the document names the workload: "workload"'
expect 3 ask fast.json -f tiny/bad.json
equals "$out" ''
holds "$err" 'tiny/bad.json:1:'
expect 3 ask fast.json -f tiny/bad.json --build-if-missing
expect 3 ask solver.json -f tiny/tyni.json
holds "$err" "there is no file 'tiny/tyni.json'; did you mean 'tiny.json'?"

# 4. Several matrices: the best of all their cells; a cell that is broken is not passed over in silence.
sed 's/"tiny"/"other"/; s/"2.10", "2.1"/"2.10"/' "$matrix" >tiny/other.json
expect 4 ask fast.json -f tiny/other.json -f "$matrix" --json
equals "$(json 'it["would_match"]["matrix"]')" "$matrix"
expect 4 ask turbo.json -f tiny/other.json -f "$matrix"
holds "$err" "no cell of tiny/other.json, $matrix would match"
mv tiny/recipes/library/fast/distro.sh away
expect 4 ask turbo.json -f "$matrix"
holds "$err" '; 3 cells are broken'
mv away tiny/recipes/library/fast/distro.sh

# 5. $KILN_FILE is -f, and no mistake where it is not needed.
expect 4 env KILN_FILE="$matrix" "$KILN" select --host x86_64 --dsl fast.json
holds "$err" "the cell $cell of $matrix would match"
expect 0 env KILN_FILE=none.json "$KILN" select --host x86_64 --dsl solver.json

# 6. What does not go together, and who works in the state folder already.
expect 2 ask fast.json --build-if-missing
holds "$err" '--build-if-missing goes with -f'
expect 2 ask fast.json -f "$matrix" --build-if-missing --snapshot 1
holds "$err" '--build-if-missing and --snapshot do not go together; a snapshot stays what it is'
expect 4 ask fast.json -f "$matrix" --snapshot 1
holds "$err" 'would match'
expect 2 ask fast.json -f "$matrix" -f tiny/other.json --lockfile x.json
holds "$err" '--lockfile goes with one matrix'
expect 7 ask fast.json -f "$matrix" --locked
expect 4 ask turbo.json -f "$matrix" --build-if-missing
echo '[{"opt_dsl_code": "t", "app_name": "hello", "version": "2.1", "container_name": "hello:2.1", "enable_opt_build": true}]' >answer.json
cp -r .kiln after
expect 0 "$KILN" index import answer.json --state after
exec 9>.kiln/lock
flock 9
printf 'kiln build of night by process 1' >&9
"$KILN" select --host x86_64 --dsl fast.json -f "$matrix" --build-if-missing >waited.out 2>waited.err 9>&- &
waited=$!
trap 'kill "$waited" 2>/dev/null || true; unmount_all' EXIT
until grep 'waiting for' waited.err >/dev/null; do
  kill -0 "$waited" || fail "it did not wait: $(cat waited.err)"
  sleep 0.05
done
holds "$(cat waited.err)" 'kiln build of night by process 1'
# Meanwhile the holder publishes what answers: nothing is built.
cp -r after/store .kiln
mv after/index.db .kiln/index.db
exec 9>&-
status=0
wait "$waited" || status=$?
equals "$status" 0
equals "$(cat waited.out)" 'docker://hello:2.1'
lacks "$(cat waited.err)" 'building'
expect 0 "$KILN" index demand --format json
equals "$(json 'sum(row["count"] for row in it if row["question"] == "hello 2.1, optimised" and row["outcome"] == "missed")')" 4
echo 'select -f: the cell that would match, or why none does'
