#!/usr/bin/env bash
# kiln bench --search: adds one part at a time to the stock cell, keeps what is proven, and patches the matrix.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/loaded.sh
. "$KILN_SOURCE/tests/support/loaded.sh"
cp -r "$tiny" tiny
edit '0,/"script": "distro.sh"/s//"stock": true, "script": "distro.sh"/' tiny/recipes/framework/hello/recipe.json
matrix=tiny/search.json
cat >"$matrix" <<'J'
// What the search may try.
{"name": "search", "axes": {"framework": ["hello"], "version": ["2.10"], "method": ["distro"], "library": ["none", "fast"],
  "compiler": ["none", "turbo"], "base": ["busybox@1.35"], "target": ["x86_64"]}}
J
echo '{"name": "kept", "axes": {"framework": ["hello"], "version": ["2.1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["x86_64"]}}' >tiny/kept.json
mkdir tiny/recipes/workload/say
echo '{"description": "Says what it was told", "licenses": "Apache-2.0", "homepage": "https://example.org/say", "versions": {"1.0": {}},
  "methods": {"distro": {"script": "bench.sh", "files": ["speeds"]}}}' >tiny/recipes/workload/say/recipe.json
cat >tiny/recipes/workload/say/bench.sh <<'SH'
#!/bin/sh -eu
. ./speeds
if [ -e /opt/kiln/fast/version ] && [ "${HELLO_TURBO:-}" = on ]; then took=$both
elif [ -e /opt/kiln/fast/version ]; then took=$fast
elif [ "${HELLO_TURBO:-}" = on ]; then took=$turbo
else took=$plain; fi
echo "{\"unit\": \"ms/step\", \"samples\": [$took, $took, $took]}"
SH
echo 'plain=40 fast=20 turbo=50 both=10' >tiny/recipes/workload/say/speeds
search() { expect "$1" "$KILN" bench -f "$matrix" --workload say --repeat 0 --search "${@:2}"; }
runs() { find .kiln/bench/runs -name '*.json' 2>/dev/null | wc -l; }
patched() { # patched FILE: the matrix with patch.json applied, as RFC 6902 has `add`
  "$KILN_PYTHON" - "$1" <<'PY'
import json, sys
it = json.loads("".join(line for line in open(sys.argv[1]) if not line.startswith("//")))
for one in json.load(open("patch.json")):
    assert one["op"] == "add", one
    *way, last = one["path"].split("/")[1:]
    place = it
    for part in way:
        place = place[part]
    place.append(one["value"]) if last == "-" else place.__setitem__(last, one["value"])
print(json.dumps(it))
PY
}

# 1. Nothing is built: there is nothing to search, or the search builds it.
expect 2 "$KILN" bench -f "$matrix" --workload say --into tiny/kept.json
expect 2 "$KILN" bench -f "$matrix" --workload say --search --export runs.json
holds "$err" '--search and --export do not go together'
search 4
holds "$err" 'there is nothing to search'
holds "$err" '--build-if-missing does'
load_machine
search 0 --build-if-missing --into tiny/kept.json --patch patch.json --format json
equals "$(json '[(one["added"], one["result"], one["gain"]["ratio"]) for one in it["tries"]]')" \
  "[('compiler turbo', 'slower', 0.8), ('library fast', 'kept', 2.0), ('compiler turbo', 'kept', 2.0)]"
equals "$(json 'it["tries"][2]["over_stock"]["ratio"]')" 4.0
equals "$(json '[one["cell"] for one in it["keep"]]')" "['hello-2.10-distro-fast-turbo-x86_64-busybox_1.35']"
equals "$(runs)" 42 # three cells by turns, twice

# 2. The patch includes what is worth keeping, with the interval as its reason.
equals "$(json '[one["path"] for one in it["patch"]]')" "['/include', '/include/-']"
holds "$(json 'it["patch"][1]["reason"]')" 'say: kept, 2.00 times as fast as hello:'
holds "$(json 'it["patch"][1]["reason"]')" '4.00 times as fast as stock (4.00 to 4.00)'
patched tiny/kept.json >tiny/with.json
expect 0 "$KILN" plan -f tiny/with.json --format json
holds "$out" hello-2.10-distro-fast-turbo-x86_64-busybox_1.35

# 3. Again: what was measured is not run again. Without --into, what gained nothing leaves the matrix.
search 0 --patch patch.json
equals "$(runs)" 42
holds "$out" 'keep hello:2.10-distro-fast-turbo-'
patched "$matrix" >tiny/less.json
expect 0 "$KILN" plan -f tiny/less.json --format json
lacks "$out" '"hello-2.10-distro-turbo-x86_64-busybox_1.35"'
holds "$out" hello-2.10-distro-fast-turbo-x86_64-busybox_1.35

# 4. The workload fails in one cell: the search goes on without it.
echo 'plain=40 fast=40 turbo=no both=10' >tiny/recipes/workload/say/speeds
search 1
holds "$out" failed
holds "$out" 'no gain'
holds "$out" 'nothing is proven faster than stock'
echo 'bench --search: greedy, measured once, patched'
