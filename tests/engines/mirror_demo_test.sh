#!/usr/bin/env bash
# The five images of the demo, built with a network, mirrored, and built again in a network namespace that has none, of the mirror
# alone and into an empty state folder: each manifest, configuration and layer has the same digest. Some fifteen minutes.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
chmod 755 "$work" # apt reads the mirror as a user of its own
mkdir matrix
cp "$KILN_SOURCE/matrix/demo.json" matrix/
echo '{"formats": ["oci"]}' >site.json
run() { "$KILN" "$@" --recipes "$KILN_SOURCE/recipes" --site site.json; }
timed() {
  local what=$1 before=$SECONDS
  shift
  expect 0 "$@"
  echo "$what: $((SECONDS - before)) s"
}

timed 'locked' run lock -f matrix/demo.json
timed 'built with a network' run build -f matrix/demo.json --state with
timed 'mirrored' run mirror -f matrix/demo.json mirror --state with --format json
echo "$(json 'it["items"]') items, $(json 'it["bytes"] // 1000000') MB, $(json 'it["fetched"]') fetched"
timed 'mirrored again' run mirror -f matrix/demo.json mirror --state with --format json
equals "$(json 'it["fetched"]')" 0
timed 'checked' "$KILN" mirror --check mirror
holds "$out" 'all whole'

# As it is carried over: a copy, and nothing else of what is here.
cp -a mirror carried
mv mirror away
timed 'built without a network' unshare --net -- "$KILN" build -f matrix/demo.json --locked --recipes "$KILN_SOURCE/recipes" --site site.json \
  --state without --offline --mirror carried

bits() { "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/image_bits.py" "$1"; }
equals "$(bits with | wc -l)" 5
equals "$(bits without)" "$(bits with)"
if grep -rlF -e /run/kiln/mirror -e "$work/carried" without --include='*.json' | grep -v '^without/logs/'; then fail 'the mirror in a record'; fi
bits without
echo 'the same bits without a network'
