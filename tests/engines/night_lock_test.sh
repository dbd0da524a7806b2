#!/usr/bin/env bash
# The lockfile from night to night, on a base whose archives move: once a week, also where the checkout is fresh every night; a base that
# nobody has built at once; and what a night says of it.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
lock=tiny/tiny.lock.json
# busybox from "archives" whose state is a file of this test.
PYTHONPATH=$KILN_SOURCE/tests/support "$KILN_PYTHON" -B - "$work" <<'PY'
import pathlib, sys
from edited import edit
base = pathlib.Path("tiny/recipes/base/busybox")
edit(base / "recipe.json", ('"rootfs": "rootfs.sh", "parameters": ["KILN_VERSION"]', '"rootfs": "rootfs.sh", "archive": "archive.sh", "parameters": ["KILN_VERSION", "KILN_ARCHIVE"]'))
(base / "archive.sh").write_text(f"#!/bin/sh -eu\ncat {sys.argv[1]}/archive\n")
(base / "rootfs.sh").write_text((base / "rootfs.sh").read_text() + f'\nnow=$(cat {sys.argv[1]}/archive)\n[ "${{KILN_ARCHIVE:-$now}}" = "$now" ] || {{ echo "the archives hold $now" >&2; exit 3; }}\n')
matrix = pathlib.Path("tiny/tiny.json")
matrix.write_text('{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.10"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["plain"]}}')
PY
echo 'main 1 aaaa, security 1 aaaa' >archive
expect 0 "$KILN" lock -f "$matrix"
committed() { sed "s/\"since\": \"[^\"]*\"/\"since\": \"$(date -u -d "-$1 days" +%FT%TZ)\"/" "$lock"; }
night() { # night STATUS: $out is its report
  expect "$1" "$KILN" nightly -f "$matrix" --local --no-gc --format json
}
committed 1 >day1.lock.json
committed 8 >day8.lock.json

# 1. Built; then the archives move: held, and the image stays as it is.
cp day1.lock.json "$lock"
night 0
equals "$(json 'it["images"][0]["verdict"], it.get("lock", {})')" 'built {}'
echo 'main 1 aaaa, security 1 bbbb' >archive
night 0
equals "$(json 'it["images"][0]["verdict"], len(it["lock"]["held"])')" 'unchanged 1'
holds "$out" 'base/busybox@1.35:distro: archive amd64 main 1 aaaa, security 1 aaaa → main 1 aaaa, security 1 bbbb, held until '
cmp "$lock" day1.lock.json || fail 'the lockfile moved'

# 2. A week later it moves, and what stands on it is built, with the reason.
cp day8.lock.json "$lock"
night 0
equals "$(json 'it["images"][0]["verdict"], len(it["lock"]["changes"]), "held" in it["lock"]')" 'built 1 False'
holds "$out" 'base/busybox: package archives security 1 aaaa → 1 bbbb'
cp "$lock" moved.lock.json

# 3. The next night, on a fresh checkout, with archives that moved again: it goes on where the last one was, and holds.
cp day8.lock.json "$lock"
echo 'main 1 aaaa, security 1 cccc' >archive
night 0
equals "$(json 'it["images"][0]["verdict"], len(it["lock"]["held"]), "changes" in it["lock"]')" 'unchanged 1 False'
cmp "$lock" moved.lock.json || fail 'it began anew'

# 4. What a person writes counts; and on a machine where nobody has built the base the pin moves at once, as it cannot be had any more.
cp day1.lock.json "$lock"
mv .kiln kept
night 0
equals "$(json 'it["images"][0]["verdict"], len(it["lock"]["changes"])')" 'built 1'
holds "$(cat "$lock")" 'security 1 cccc'

# 5. Other tables of flags: the lockfile moves, and what they changed is explained by them.
mkdir -p tiny/recipes/toolchain/cc
cat >tiny/recipes/toolchain/cc/recipe.json <<'J'
{"description": "A compiler that is there already", "licenses": "MIT",
 "versions": {"12.2": {"facts": {"compiler": "gcc", "compiler_version": "12.2.0"}}}, "methods": {"distro": {}}}
J
recipe=tiny/recipes/framework/hello/recipe.json
edit '0,/"parameters": \["KILN_VERSION"/s//"needs": [{"kind": "toolchain", "name": "cc"}], "parameters": ["CFLAGS", "KILN_VERSION"/' "$recipe"
expect 0 "$KILN" lock -f "$matrix"
night 0
"$KILN_PYTHON" - >tables.json <<'PY'
import archspec, json, pathlib, sys
[tables] = pathlib.Path(archspec.__file__).parent.rglob("cpu/microarchitectures.json")
book = json.loads(tables.read_text())
for row in book["microarchitectures"]["x86_64"]["compilers"]["gcc"]:
    row["flags"] = row["flags"] + " -mno-red-zone"
json.dump(book, sys.stdout)
PY
export KILN_ARCHSPEC=$work/tables.json
night 0
equals "$(json 'it["images"][0]["verdict"], len(it["lock"]["changes"])')" 'built 1'
holds "$(json 'it["images"][0]["why"]')" 'framework/hello: flag table archspec '
holds "$(json 'it["images"][0]["why"]')" ': CFLAGS changed ('
echo 'night lock: held, moved, gone on with'
