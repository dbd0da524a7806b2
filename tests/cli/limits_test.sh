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
holds "$err" 'big.json: error: 4194331 bytes, the limit is 4194304'
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
edit 's/"needs": \[\]/"needs": [{"kind": "library", "name": "crowd0000"}]/' crowd/recipes/library/crowd9999/recipe.json
within 60 expect 0 "$KILN" plan -f crowd/tiny.json # no cell needs them
holds "$err" 'crowd/recipes/library/crowd0000/recipe.json:1:'
holds "$err" 'components need each other in a circle: library/crowd0000 needs library/crowd0001 ('
holds "$err" 'needs … (9979 more) needs library/crowd0000 (crowd/recipes/library/crowd9999/recipe.json:1:'
[ "${#err}" -lt 5000 ] || fail 'the circle is told at length'
# What is no file, or far too large a one: told before the first byte is read, wherever a file is named. A pipe that this
# process was handed is read, and no further than the limit.
echo '{"opt_dsl_code": "x", "app_name": "other", "container_name": "other:1"}' >mapping.json
expect 0 "$KILN" index import mapping.json
dsl=$KILN_SOURCE/matrix/dsl/optimised.json
truncate -s 3G huge.json
mkfifo pipe
zero=/dev/zero
refuses() { # refuses WORDS ARGUMENTS…
  local words=$1
  shift
  expect 3 timeout 60 "$KILN" "$@"
  holds "$err" "$words"
}
for file in huge.json pipe "$zero"; do
  case $file in
    huge.json) words='huge.json: error: 3221225472 bytes, the limit is' ;;
    pipe) words="'pipe' is a named pipe, not a file; hand a pipe over as /dev/stdin" ;;
    *) words="'/dev/zero' is a device, not a file" ;;
  esac
  refuses "$words" select --dsl "$file"
  refuses "$words" --site "$file" plan -f tiny/tiny.json
  refuses "$words" plan -f tiny/tiny.json --lockfile "$file"
  refuses "$words" plan -f "$file" --recipes tiny/recipes
  refuses "$words" select --dsl "$dsl" --host "$file"
  refuses "$words" diff "$file" tiny/tiny.json
  refuses "$words" diff tiny/tiny.json "$file"
  refuses "$words" index import "$file"
done

# A pipe that was meant is read to its end, and a stream without an end to the limit.
expect 4 "$KILN" select --dsl "$dsl" --json
answer=$out
expect 4 "$KILN" select --dsl /dev/stdin --json < <(cat "$dsl")
equals "$out" "$answer"
expect 4 "$KILN" select --dsl - --json < <(sleep 1; cat "$dsl")
equals "$out" "$answer"
expect 4 "$KILN" select --dsl <(cat "$dsl") --json
equals "$out" "$answer"
for file in - /dev/stdin; do
  expect 3 timeout 60 "$KILN" select --dsl "$file" <"$zero"
  equals "$err" '/dev/stdin: error: more than 4194304 bytes, which is the limit'
done
