#!/usr/bin/env bash
# archspec's tables change: a night's lockfile follows them, and what hangs on the flags that changed is another image. Nothing else is.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
tables=$work/microarchitectures.json
mkdir -p tiny/recipes/toolchain/gcc
cat >tiny/recipes/toolchain/gcc/recipe.json <<'JSON'
{"versions": {"12.2": {"facts": {"compiler": "gcc", "compiler_version": "12.2.0"}}}, "methods": {"distro": {}}}
JSON
cat >"$matrix" <<'JSON'
{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.10", "2.1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["zen3", "haswell"]}}
JSON
# 2.10 reads the flags; and a table in which zen3 is compiled otherwise.
PYTHONPATH=$KILN_SOURCE/tests/support "$KILN_PYTHON" -B - "$tables" <<'PY'
import importlib.util, json, pathlib, sys
from edited import edit
flags = '"pip": {"versions": "2.10", "script": "distro.sh", "files": ["hello"], "parameters": ["KILN_VERSION", "KILN_FACT_GREETING", "KILN_CPU_FLAGS"], "needs": [{"kind": "toolchain", "name": "gcc"}]},'
edit("tiny/recipes/framework/hello/recipe.json",
     ('"parameters": ["KILN_VERSION", "KILN_FACT_GREETING"]', '"versions": "2.1", "parameters": ["KILN_VERSION", "KILN_FACT_GREETING"]'),
     ('"methods": {', '"methods": {' + flags))
edit("tiny/tiny.json", ('["distro"]', '["distro", "pip"]'))
installed = pathlib.Path(importlib.util.find_spec("archspec").origin).parent / "json/cpu/microarchitectures.json"
table = json.loads(installed.read_text())
pathlib.Path(sys.argv[1]).write_text(json.dumps(table))
for entry in table["microarchitectures"]["zen3"]["compilers"]["gcc"]:
    entry["flags"] += " -mprefer-vector-width=128"
pathlib.Path(sys.argv[1] + ".new").write_text(json.dumps(table))
PY
export KILN_ARCHSPEC=$tables
keys() {
  expect 0 "$KILN" plan -f "$matrix" --format json
  json '{(cell["axes"]["version"], cell["axes"]["target"]): cell["key"] for cell in it["cells"]}'
}
expect 0 "$KILN" lock -f "$matrix"
expect 0 "$KILN" plan -f "$matrix" --locked
before=$(keys)
cp tiny/tiny.lock.json before.lock.json

cp "$tables.new" "$tables"
now=$(keys)
equals "$("$KILN_PYTHON" -c 'import ast, sys; a, b = map(ast.literal_eval, sys.argv[1:]); print(len(a), sorted(k for k in a if a[k] != b[k]))' "$before" "$now")" \
  "4 [('2.10', 'zen3')]"
expect 7 "$KILN" plan -f "$matrix" --locked
holds "$err" 'flags come from archspec sha256:'

# A site may keep them for a person; else the lockfile follows.
echo '{"nightly": {"update": {"archspec": "never"}}}' >never.json
expect 0 "$KILN" --site never.json lock -f "$matrix" --by-policy --format json
equals "$(json '[(change["id"], change["until"]) for change in it["held"]], it["changes"]')" "[('archspec', None)] []"
cmp tiny/tiny.lock.json before.lock.json || fail 'it moved all the same'
expect 0 "$KILN" lock -f "$matrix" --by-policy --format json
equals "$(json '[change["id"] for change in it["changes"]]')" "['archspec']"
expect 0 "$KILN" plan -f "$matrix" --locked
expect 0 "$KILN" diff before.lock.json tiny/tiny.lock.json
holds "$out" '1 change'
echo 'flag table: one image of four'
