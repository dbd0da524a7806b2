#!/usr/bin/env bash
# OpenBLAS from Debian's source package for two CPUs, built for real: the machine code inside is what the flags say, and an
# image that promises less than it holds is refused. The facts found are the fixtures of tests/evidence; KILN_UPDATE=1
# writes them anew.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
[ "$(uname -m)" = x86_64 ] || exit 77

data=$KILN_SOURCE/tests/data/openblas
matrix=$data/openblas.json
export KILN_RECIPES=$KILN_SOURCE/recipes
recipes=(--recipes "$KILN_SOURCE/recipes" --recipes "$data/recipes")
expect 0 "$KILN" build -f "$matrix" "${recipes[@]}" --format json
equals "$(json 'sorted(image["verdict"] for image in it["images"])')" "['built', 'built']"
expect 0 "$KILN" publish -f "$matrix" "${recipes[@]}"

haswell=blas-user:1.0-distro-openblas.source-haswell-trixie
skylake=blas-user:1.0-distro-openblas.source-skylake_avx512-trixie

# library IMAGE TARGET: the facts found of its library, in the form of the fixture.
library() {
  "$KILN" inspect "$1" --evidence --format json --files --target "$2" | "$KILN_PYTHON" -c '
import json, sys
found = [f for f in json.load(sys.stdin)["files"] if f["path"].startswith("/opt/kiln/openblas/lib/libopenblas")]
assert len(found) == 1, [f["path"] for f in found]
print(json.dumps({k: v for k, v in found[0].items() if k not in ("path", "layer")}, indent=1, sort_keys=True))'
}

# extensions FILE: those of its code that runs unconditionally. Counts and addresses move with the compiler; these must not.
extensions() {
  "$KILN_PYTHON" -c '
import json, sys
features = json.load(open(sys.argv[1]))["features"]
print(sorted(name for name, found in features.items() if "unconditional" in found))' "$1"
}

check() {  # IMAGE, its target, an extension that must run unconditionally
  expect 0 "$KILN" index show "$1"
  equals "$(json 'it["evidence"]["verdict"]')" conforms
  equals "$(json "'$3' in it['evidence']['unconditional']")" True
}
check "$haswell" haswell avx2
equals "$(json 'any(word.startswith("avx512") for word in it["evidence"]["unconditional"])')" False
check "$skylake" skylake_avx512 avx512f

# The image for Skylake is no image for Haswell, and it is this library that says so.
expect 1 "$KILN" inspect "$skylake" --evidence --target haswell
holds "$out" 'opt/kiln/openblas/lib/libopenblas'
holds "$out" avx512

for target in haswell skylake_avx512; do
  library "${haswell/haswell/$target}" "$target" >"$target.json"
  fixture=$KILN_SOURCE/tests/data/evidence/openblas_$target.json
  if [ -n "${KILN_UPDATE:-}" ]; then cp "$target.json" "$fixture"; fi
  equals "$(extensions "$target.json")" "$(extensions "$fixture")"
done
echo 'openblas: two CPUs, two kinds of machine code'
