#!/usr/bin/env bash
# One broken recipe or target: the cells that need it fail with that error, everything else is planned and made.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
matrix=tiny/tiny.json
fresh() { rm -rf tiny && cp -r "$tiny" tiny; }

# A recipe that no cell needs: a word, and nothing else.
fresh
mkdir -p tiny/recipes/library/unused
echo '{"versions": {"1": {}}, "mehtods": {}}' >tiny/recipes/library/unused/recipe.json
expect 0 "$KILN" plan -f "$matrix"
holds "$out" '7 images: 0 built, 7 to build; 2 excluded'
holds "$err" "tiny/recipes/library/unused/recipe.json:1:25: warning: unknown key 'mehtods' (at /mehtods); did you mean 'methods'?"
lacks "$err" 'error:'
expect 0 "$KILN" generate -f "$matrix" -o out
expect 3 "$KILN" lint tiny/recipes/library/unused
holds "$err" "unused/recipe.json:1:25: error: unknown key 'mehtods'"
expect 1 "$KILN" lint -f "$matrix" # of what the cells need: findings, nothing that cannot be read
lacks "$err" 'error:'
mkdir tiny/matrix && cp -r tiny/tiny.json tiny/targets tiny/matrix/
expect 3 "$KILN" -C tiny lint
holds "$err" "unused/recipe.json:1:25: error: unknown key 'mehtods'"
equals "$(grep -c mehtods <<<"$err")" 1

# One that some need.
fresh
edit 's/"script"/"scirpt"/' tiny/recipes/library/fast/recipe.json
why="tiny/recipes/library/fast/recipe.json:[0-9]*:[0-9]*: unknown key 'scirpt'.*; did you mean 'script'?"
expect 1 "$KILN" plan -f "$matrix"
equals "$(grep -c "^hello-2.*-fast-.* broken  *$why" <<<"$out")" 3
holds "$out" '7 images: 0 built, 4 to build, 3 broken; 2 excluded'
equals "$(grep -c "error: unknown key 'scirpt'" <<<"$err")" 1
expect 1 "$KILN" plan -f "$matrix" --format json
equals "$(json '[len(it["cells"]), len(it["broken"]), it["broken"][0]["where"]["file"]]')" "[4, 3, 'tiny/recipes/library/fast/recipe.json']"
expect 1 "$KILN" plan -f "$matrix" --explain
holds "$out" '  state  broken'
expect 3 "$KILN" plan -f "$matrix" library=fast
holds "$err" "fast/recipe.json:"
holds "$out" '3 images: 0 built, 0 to build, 3 broken; 1 excluded'
expect 3 "$KILN" plan -f "$matrix" hello-2.10-distro-fast-plain-busybox_1.35
expect 0 "$KILN" plan -f "$matrix" library=none
equals "$err" ''
expect 3 "$KILN" lint -f "$matrix"
expect 1 "$KILN" generate -f "$matrix" -o some
equals "$(wc -l <<<"$out")" 4
expect 3 "$KILN" generate -f "$matrix" -o some library=fast
expect 1 "$KILN" build -f "$matrix" --dry-run
equals "$(grep -c "^broken hello-2.*-fast-" <<<"$out")" 3
equals "$(grep -c '^image' <<<"$out")" 4
expect 3 "$KILN" lock -f "$matrix"
holds "$err" 'while planning hello-2.10-distro-fast-plain-busybox_1.35 for the lockfile'
[ ! -e tiny/tiny.lock.json ] || fail 'a lockfile of half the cells'

# On a CI system each is a job, which fails; the job that plans does not.
expect 0 "$KILN" plan -f "$matrix" --format github
equals "$(json 'len(it["include"])')" 7
equals "$(json '[job["platform"] for job in it["include"]].count("linux/amd64")')" 7
expect 0 "$KILN" plan -f "$matrix" --format gitlab
equals "$(json 'sum(name.startswith("cell ") for name in it)')" 7
expect 1 "$KILN" build -f "$matrix" hello-2.10-distro-fast-plain-busybox_1.35
holds "$out" '0 built, 0 up to date, 1 failed'
holds "$out" "unknown key 'scirpt'"

# What differs is said as what it is.
expect 0 "$KILN" diff "$tiny/tiny.json" "$matrix"
equals "$(grep -c 'removed .*now broken: .*scirpt' <<<"$out")" 3

# A target.
fresh
echo '{' >tiny/targets/other.json
expect 0 "$KILN" plan -f "$matrix"
holds "$err" 'tiny/targets/other.json:2:1: warning: not valid JSON'
edit 's/\["plain"\]/["plain", "other"]/' "$matrix"
expect 1 "$KILN" plan -f "$matrix"
holds "$out" '7 to build, 6 broken;'

# Nothing but mistakes.
fresh
echo >tiny/recipes/base/busybox/recipe.json
expect 3 "$KILN" plan -f "$matrix"
holds "$out" '7 images: 0 built, 0 to build, 7 broken; 2 excluded'
equals "$(grep -c error: <<<"$err")" 1
