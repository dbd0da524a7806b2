#!/usr/bin/env bash
# kiln lint and kiln init as a person uses them: output, exit codes, --fix, and starts that lint and plan as they stand.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
export XDG_CACHE_HOME=$work/cache

# An empty folder becomes a catalogue.
mkdir new && cd new
expect 0 "$KILN" init recipe base/mine
holds "$out" 'recipes/base/mine/recipe.json'
holds "$out" 'schema/recipe.schema.json'
holds "$err" 'next: '
for component in toolchain/cc library/blis framework/sklearn compiler/turbo distributed/mpi; do
  expect 0 "$KILN" init recipe "$component"
done
lacks "$out" schema
expect 0 "$KILN" init recipe workload/mnist
expect 0 "$KILN" init recipe framework/Wheels --method pip
for file in recipe.json pip.sh smoke.sh requirements-1.0.txt; do [ -s "recipes/framework/Wheels/$file" ] || fail "no $file"; done
expect 0 "$KILN" init recipe framework/Compiled --method source
for file in framework/Compiled/build.sh toolchain/gcc/distro.sh; do [ -s "recipes/$file" ] || fail "no $file"; done
expect 0 "$KILN" init recipe library/second --method source # there is a compiler by now
lacks "$out" toolchain/gcc
expect 2 "$KILN" init recipe base/other --method pip
holds "$err" 'a base has no method pip'
expect 0 "$KILN" init matrix first
holds "$err" 'next: kiln plan -f matrix/first.json'
expect 0 "$KILN" init site
expect 0 "$KILN" plan -f matrix/first.json --format json
equals "$(json 'len(it["cells"])')" 1
expect 0 "$KILN" lint
equals "$out" ''
expect 0 "$KILN" init matrix second --framework sklearn --target zen3
edit 's/"method"/"library": ["blis"], "compiler": ["turbo"], "distributed": ["mpi"], "toolchain": ["cc"], "method"/' matrix/second.json
expect 0 "$KILN" plan -f matrix/second.json --format json
equals "$(json 'len(it["cells"])')" 1
expect 0 "$KILN" lint -f matrix/second.json
expect 0 "$KILN" init matrix wheels --framework Wheels
expect 0 "$KILN" plan -f matrix/wheels.json --format json
equals "$(json '[cell["axes"]["method"] for cell in it["cells"]]')" "['pip']"
expect 0 "$KILN" lint -f matrix/wheels.json
expect 0 "$KILN" init matrix compiled --framework Compiled --target zen3
expect 0 "$KILN" lint -f matrix/compiled.json
expect 0 "$KILN" show --flags -f matrix/compiled.json
holds "$out" '-march=znver3'
if command -v shellcheck >/dev/null; then
  find recipes -name '*.sh' -print0 | xargs -0 shellcheck || fail 'a start is not shellcheck-clean'
fi

expect 2 "$KILN" init matrix third --framework sklaern
holds "$err" "did you mean 'sklearn'?"

# Nothing is overwritten, nothing half-written.
echo mine >recipes/base/mine/smoke.sh
expect 2 "$KILN" init recipe base/mine
holds "$err" 'is there already'
equals "$(cat recipes/base/mine/smoke.sh)" mine
rm recipes/base/mine/recipe.json
expect 2 "$KILN" init recipe base/mine
[ ! -e recipes/base/mine/recipe.json ] || fail 'half-written'
expect 2 "$KILN" init recipe libary/x
holds "$err" "did you mean 'library'?"
expect 2 "$KILN" init recipe blis
expect 2 "$KILN" init recipe library/../x
expect 2 "$KILN" init
cd ..

# A matrix is a start of its own: where there are no recipes, it comes with a base and a framework that plan and lint.
# A copy of the program: in its build folder kiln finds the recipes of its checkout.
mkdir bin && cp "$KILN" bin/kiln
beside_checkout=$KILN KILN=$work/bin/kiln
mkdir newer && cd newer
expect 0 "$KILN" init matrix mine
for file in matrix/mine.json recipes/base/debian/recipe.json recipes/framework/hello/smoke.sh schema/matrix.schema.json; do
  holds "$out" "$file"
done
holds "$err" 'next: edit the recipes, which are starts, then kiln lint'
expect 0 "$KILN" plan -f matrix/mine.json --format json
equals "$(json '[cell["tag"] for cell in it["cells"]]')" "['2.10-distro-x86_64_v3-debian13']"
expect 0 "$KILN" lint
equals "$out" ''
expect 0 "$KILN" init matrix mine2
equals "$out" matrix/mine2.json
expect 2 "$KILN" init matrix mine3 --framework sklearn
holds "$err" 'kiln init recipe framework/sklearn makes one'
expect 3 "$KILN" --recipes nowhere init matrix mine3
holds "$err" "there is no folder 'nowhere'"
cd ..
mkdir named && cd named
expect 0 "$KILN" init matrix mine --framework sklearn
expect 0 "$KILN" plan -f matrix/mine.json --format json
equals "$(json 'it["cells"][0]["axes"]["framework"]')" sklearn
cd ..
KILN=$beside_checkout

# Findings, as text.
mkdir bad
printf 'FROM debian:13\nRUN export A=1\nADD a /\nRUN apt-get update && apt-get install gcc\n' >bad/Dockerfile
expect 1 "$KILN" lint bad
# shellcheck disable=SC2016 # the output has backquotes
holds "$out" 'bad/Dockerfile:2:5: warning: `export` has no effect: its shell ends here [KL001]; '
holds "$err" '1 file: 1 error, 4 warnings, 1 note (--severity note shows all)'
expect 1 "$KILN" lint bad --severity error
lacks "$out" KL001
expect 0 "$KILN" lint bad --severity error --ignore KL072
expect 1 "$KILN" lint bad --rule lost-state
expect 1 "$KILN" lint --rule lost-state bad # an option takes one word: what follows is a file
equals "$(echo "$out" | wc -l)" 1
expect 1 "$KILN" lint bad --format json
equals "$(json 'sorted({f["rule"] for f in it["findings"]})')" "['KL001', 'KL050', 'KL072', 'KL073', 'KL076']"
expect 1 "$KILN" lint bad --format sarif
equals "$(json '(it["version"], len(it["runs"][0]["results"]))')" "('2.1.0', 5)"

# What cannot be read is said, with all the rest; names are as short as they can be.
mkdir broken && cd broken
printf 'FROM debian\nRUNN x\nRUN export A=1\n' >Containerfile
expect 3 "$KILN" lint .
holds "$out" 'Containerfile:3:5: warning:'
lacks "$out" './Containerfile'
holds "$err" "Containerfile:2:1: error: unknown instruction 'RUNN'; did you mean 'RUN'?"
holds "$err" '1 file: 0 errors, 2 warnings, 0 notes; 1 place could not be read'
expect 3 "$KILN" lint . --format sarif
equals "$(json 'it["runs"][0]["invocations"][0]["executionSuccessful"]')" False
cd ..

# --fix: as a diff, then for good; what needs a person stays.
cp bad/Dockerfile before
expect 1 "$KILN" lint bad --fix -n
holds "$out" '+COPY a /'
cmp before bad/Dockerfile || fail '-n changed the file'
chmod 751 bad/Dockerfile
expect 1 "$KILN" lint bad --fix
equals "$(echo "$out" | wc -l)" 1
equals "$(stat -c %a bad/Dockerfile)" 751
holds "$(cat bad/Dockerfile)" 'apt-get install -y --no-install-recommends gcc && rm -rf /var/lib/apt/lists/*'
cp bad/Dockerfile before
expect 1 "$KILN" lint bad --fix
cmp before bad/Dockerfile || fail 'a second --fix changed the file'

# Wrong use and wrong input.
expect 2 "$KILN" lint nowhere
expect 2 "$KILN" lint bad --rule KL01
holds "$err" "did you mean 'KL0"
expect 2 "$KILN" lint
holds "$err" 'nothing to look at'
expect 2 "$KILN" lint bad --format markdown
cp -r "$tiny" tiny
echo '{' >tiny/recipes/library/fast/recipe.json
expect 3 "$KILN" lint tiny
holds "$err" 'tiny/recipes/library/fast/recipe.json:'
expect 3 "$KILN" lint -f tiny/tiny.json

# The rules explain themselves.
expect 0 "$KILN" lint --explain KL003
holds "$out" 'native'
expect 0 "$KILN" lint --list
holds "$out" 'KL099'
expect 0 "$KILN" lint --list --format json
equals "$(json 'all(r["id"] and r["bad"] and r["good"] for r in it)')" True

# This repository is clean, with and without shellcheck.
cd "$KILN_SOURCE"
expect 0 "$KILN" lint
expect 0 "$KILN" lint --ignore KL070
