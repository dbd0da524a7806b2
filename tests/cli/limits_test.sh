#!/usr/bin/env bash
# Input that is too large, too deep or too much: refused in a line or read, never a crash and never for long.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
python() { "$KILN_PYTHON" -c "$1"; }

# within SECONDS COMMAND…: generous, for sanitizers and busy machines; what is meant here is "not minutes".
within() {
  local limit=$1 start=$SECONDS
  shift
  "$@"
  [ $((SECONDS - start)) -le "$limit" ] || fail "took more than $limit s: $*"
}

# More than 4 MiB of JSON, and exactly as much.
python 'print("{\"name\": \"big\"," + " " * (4 << 20) + "\"axes\": {}}")' >big.json
expect 3 "$KILN" plan -f big.json --recipes tiny/recipes
holds "$err" 'big.json: error: 4194331 bytes of JSON, the limit is 4194304'
python 'import re
text = open("tiny/tiny.json").read().rstrip()
print(text + " " * ((4 << 20) - len(text.encode()) - 1))' >tiny/padded.json
[ "$(stat -c %s tiny/padded.json)" = 4194304 ] || fail 'the padded matrix has another size'
within 30 expect 0 "$KILN" plan -f tiny/padded.json

# Depth, long strings, many values: each with its place.
python 'print("{\"name\": " + "[" * 100000)' >deep.json
expect 3 "$KILN" plan -f deep.json --recipes tiny/recipes
holds "$err" 'deep.json:1:73: error: nested more than 64 levels deep'
python 'print("{\"name\": \"" + "x" * (1 << 20) + "y\"}")' >long.json
expect 3 "$KILN" plan -f long.json --recipes tiny/recipes
holds "$err" 'long.json:1:10: error: a string of 1048577 bytes, the limit is 1048576'
python 'print("{\"name\": [" + "0," * 200000 + "0]}")' >many.json
expect 3 "$KILN" plan -f many.json --recipes tiny/recipes
holds "$err" 'error: more than 100000 values'

# Ranges and products that multiply out: by the sizes of the axes, before any cell is made.
python 'import json
print(json.dumps({"name": "wide", "axes": {"framework": ["hello"], "library": [f"l{i}" for i in range(400)],
                                           "compiler": [f"c{i}" for i in range(400)]}}))' >wide.json
expect 3 "$KILN" plan -f wide.json --recipes tiny/recipes
holds "$err" "the group 'wide' has 160000 cells, limit 100000; largest axes: library (400 values), compiler (400 values), framework (1 values)"

# Ten thousand recipes, each needing the next one.
python 'import json, os, shutil
shutil.copytree("tiny", "crowd")
for i in range(10000):
    folder = f"crowd/recipes/library/crowd{i:04}"
    os.makedirs(folder)
    needs = [{"kind": "library", "name": f"crowd{i + 1:04}"}] if i < 9999 else []
    with open(folder + "/recipe.json", "w") as file:
        json.dump({"description": "one of many", "licenses": "MIT", "versions": {"1.0": {}}, "methods": {"distro": {"needs": needs, "after": ["framework"]}}}, file)'
within 60 expect 0 "$KILN" plan -f crowd/tiny.json
# A circle of them is told by its beginning and its end.
sed -i 's/"needs": \[\]/"needs": [{"kind": "library", "name": "crowd0000"}]/' crowd/recipes/library/crowd9999/recipe.json
within 60 expect 3 "$KILN" plan -f crowd/tiny.json
holds "$err" 'crowd/recipes/library/crowd0000/recipe.json:1:'
holds "$err" 'components need each other in a circle: library/crowd0000 needs library/crowd0001 ('
holds "$err" 'needs … (9979 more) needs library/crowd0000 (crowd/recipes/library/crowd9999/recipe.json:1:'
[ "${#err}" -lt 5000 ] || fail 'the circle is told at length'
