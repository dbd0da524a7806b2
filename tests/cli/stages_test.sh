#!/usr/bin/env bash
# Every stage of the way alone: expand, resolve, plan, render; byte-stable and independent of the working folder.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

expect 0 "$KILN" show -f "$tiny/tiny.json" --stage expand
equals "$(json 'len(it)')" 7
equals "$(json 'len({cell["id"] for cell in it})')" 7

expect 0 "$KILN" show -f "$tiny/tiny.json" --stage plan
equals "$(json 'len(it["cells"])')" 7
shared=$(json 'len(it["steps"])')
first=$out
cd /
expect 0 "$KILN" -C "$work" show -f "$tiny/tiny.json" --stage plan
equals "$out" "$first"
cd "$work"
[ "$shared" -lt 30 ] || fail "$shared steps: nothing is shared"

expect 0 "$KILN" plan -f "$tiny/tiny.json" --format json
equals "$(json 'sorted({cell["state"] for cell in it["cells"]})')" "['to build']"
equals "$(json 'all(cell["id"] and cell["axes"] and cell["tag"] and cell["key"] and cell["steps"] and cell["why"] for cell in it["cells"])')" True
equals "$(json 'all(cell["axes"] and cell["reason"] for cell in it["excluded"])')" True

# A pattern is a glob over the id, a tag, or axis=value.
expect 0 "$KILN" plan -f "$tiny/tiny.json" 'compiler=turbo' --format json
equals "$(json '{cell["axes"]["compiler"] for cell in it["cells"]}')" "{'turbo'}"

# The twins of one cell on stdout.
expect 0 "$KILN" plan -f "$tiny/tiny.json" method=source --format json
cell=$(json 'it["cells"][0]["id"]')
expect 0 "$KILN" generate -f "$tiny/tiny.json" "$cell" --format dockerfile
holds "$out" 'FROM '
expect 0 "$KILN" generate -f "$tiny/tiny.json" "$cell" --format singularity
holds "$out" '%post'
expect 2 "$KILN" generate -f "$tiny/tiny.json"

# The demo's catalogue plans, too: five images, and the base and the framework are shared.
expect 0 "$KILN" plan -f "$KILN_SOURCE/matrix/demo.json" --format json
equals "$(json 'len(it["cells"])')" 5
echo "stages: each alone, byte-stable"
