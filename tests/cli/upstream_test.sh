#!/usr/bin/env bash
# Newer versions of upstream: a package index and a git repository on this machine, what kiln lock --upstream proposes of them, and
# what hostile and silent ones do.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
mkdir index
mkfifo stop
"$KILN_PYTHON" "$KILN_SOURCE/tests/support/package_index.py" "$work/index" <stop &
exec 9>stop # it ends with this script
soon [ -s index/port ]
index=http://127.0.0.1:$(cat index/port)/simple
export HOME=$work GIT_CONFIG_NOSYSTEM=1
unset PIP_INDEX_URL PIP_CONFIG_FILE PIP_NO_INDEX XDG_CONFIG_HOME VIRTUAL_ENV http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

# page NAME VERSION[~]…: the package's page; ~ is one that was withdrawn.
page() {
  "$KILN_PYTHON" - "$@" >"index/$1.json" <<'PY'
import json, sys
name, *versions = sys.argv[1:]
files = [{"filename": f"{name}-{version.rstrip('~')}.tar.gz", "url": "x", "hashes": {}, "yanked": version.endswith("~"), "upload-time": "2026-11-20T08:00:00.5Z"}
         for version in versions]
print(json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files}))
PY
}
page hello 2.1 2.10 2.11 2.12~ 3.0rc1 2.2
git init --quiet upstream
git -C upstream -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m one
for tag in v0.3 v0.3.1 v0.10 v0.9 nightly v1.0rc1; do git -C upstream tag "$tag"; done
commit=$(git -C upstream rev-parse HEAD)

cp -r "$tiny" tiny
matrix=tiny/tiny.json
expect 0 "$KILN" plan -f "$matrix" --format json
keys=$(json 'sorted(cell["key"] for cell in it["cells"])')
expect 0 "$KILN" lock -f "$matrix" --upstream
equals "$out" '0 proposals, 0 waiting'

# with NAME JSON: the recipe with this "upstream".
with() {
  cp "$tiny/recipes/$1/recipe.json" "tiny/recipes/$1/recipe.json"
  PYTHONPATH=$KILN_SOURCE/tests/support "$KILN_PYTHON" -B - "tiny/recipes/$1/recipe.json" "$2" <<'PY'
import sys
from edited import edit
edit(sys.argv[1], ('  "methods"', f'  "upstream": {sys.argv[2]},\n  "methods"'))
PY
}
with framework/hello '{"pypi": "hello"}'
with library/fast "{\"git\": \"file://$work/upstream\", \"tags\": \"v*\"}"
touch site.json
printf '{"nightly": {"update": {"proposals": 1}}}\n' >few.json
printf '{}\n' >site.json

# 1. No image changes by it.
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json 'sorted(cell["key"] for cell in it["cells"])')" "$keys"

# 2. Where pip is configured to use no index, or is not here to say its own default, that is said, and the repository is asked all the same.
export PIP_NO_INDEX=1
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$err" 'warning: pip is configured to use no index'
unset PIP_NO_INDEX
mkdir bin
pip() { # pip URL: the python3 that kiln finds has a pip of this default
  printf '#!/bin/sh\n[ "$*" = "-m pip install --help" ] || exit 1\necho "  -i, --index-url <url>  Base URL (default %s). It"\n' "$1" >bin/python3
  chmod +x bin/python3
}
pip nonsense
PATH=$work/bin:$PATH
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$err" 'warning: no package index is configured on this machine; name it as for pip: PIP_INDEX_URL, or index-url in pip.conf'
holds "$err" 'while asking upstream of framework/hello'
equals "$out" "library/fast: 0.10 (has 0.3), file://$work/upstream, commit ${commit:0:12}
    tiny/recipes/library/fast/recipe.json:$(grep -n '"0.3"' tiny/recipes/library/fast/recipe.json | cut -d: -f1): \"0.10\": {}

1 proposal, 0 waiting"

pip "$index"
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$out" 'framework/hello: 2.11 (has 2.10)'
pip nonsense

# 3. Both: the newest that the range allows, by version and not by text; no pre-release, nothing withdrawn. Nothing is written.
export PIP_INDEX_URL=$index
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$out" 'framework/hello: 2.11 (has 2.10), hello on the package index, released 2026-11-20'
holds "$out" '2 proposals, 0 waiting'
expect 0 "$KILN" lock -f "$matrix" --upstream --format json
equals "$(json '[(one["component"], one["version"], one["newest"], one["is_new"]) for one in it["proposals"]]')" \
  "[('library/fast', '0.10', '0.3', True), ('framework/hello', '2.11', '2.10', True)]"
equals "$(json 'it["proposals"][0]["commit"]')" "$commit"
[ ! -e .kiln ] || fail 'it wrote into the state folder'
[ ! -e tiny/tiny.lock.json ] || fail 'it wrote a lockfile'
with framework/hello '[{"pypi": "hello", "versions": "<2.11"}, {"pypi": "Hello", "versions": ">=3.0rc1"}]'
: >index/asked
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$out" 'framework/hello: 3.0rc1 (none in >=3.0rc1), Hello on the package index'
lacks "$out" '2.11'

# 4. As many as the site wants; the others wait. What was seen first comes first, and an unreadable memory is told.
with framework/hello '{"pypi": "hello"}'
expect 0 "$KILN" --site few.json lock -f "$matrix" --upstream
holds "$out" 'library/fast: 0.10'
holds "$out" '1 proposal, 1 waiting'
mkdir .kiln
cat >.kiln/proposals.json <<JSON
{"places": [{"component": "framework/hello", "upstream": "hello on the package index", "range": "*", "version": "2.9", "first_seen": "2026-11-01T00:00:00Z", "recipe": "x:1", "shown": true}]}
JSON
expect 0 "$KILN" --site few.json lock -f "$matrix" --upstream --format json
equals "$(json '[(one["version"], one["first_seen"], one["is_new"]) for one in it["proposals"]]')" "[('2.11', '2026-11-01T00:00:00Z', False)]"
mv index/hello.json away # what does not answer keeps its place
echo 500 >index/hello.status
expect 0 "$KILN" --site few.json lock -f "$matrix" --upstream --format json
equals "$(json '([one["version"] for one in it["proposals"]], [one["component"] for one in it["problems"]])')" "(['2.9'], ['framework/hello'])"
rm index/hello.status
mv away index/hello.json
mv upstream away
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$err" 'cannot ask for the branches of'
holds "$err" 'while asking upstream of library/fast'
holds "$out" '1 proposal, 0 waiting'
mv away upstream
printf 'x' | dd of=.kiln/proposals.json conv=notrunc status=none
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$err" 'warning: '
holds "$err" '.kiln/proposals.json:1:1'
holds "$out" '2 proposals, 0 waiting'
rm -r .kiln

# 5. A name and a password are shown to the index and to nobody else.
echo 'site:pass%word' >index/password
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$err" "cannot ask $index for hello: status 401; PIP_INDEX_URL names this index"
PIP_INDEX_URL=http://site:pass%25word@${index#http://}
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$out" 'hello: 2.11'
touch index/hello.status && echo 503 >index/hello.status
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$err" "cannot ask $index for hello: status 503"
lacks "$err" word
rm index/password index/hello.status
PIP_INDEX_URL=$index

# 6. The page for browsers, from the file that pip itself would read.
unset PIP_INDEX_URL
mkdir -p .config/pip
printf '[global]\nindex-url = %s/\n' "$index" >.config/pip/pip.conf
rm index/hello.json
printf '<html><body><a href="x">hello-2.11.tar.gz</a><a data-yanked="" href="y">hello-9.tar.gz</a></body></html>' >index/hello.html
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$out" 'framework/hello: 2.11 (has 2.10)'
rm index/hello.html
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$err" "$index has no package hello"

# 7. A proposal is taken: one line of the recipe, for a person to complete.
page hello 2.10 2.11
cp tiny/recipes/framework/hello/recipe.json before.json
expect 4 "$KILN" lock -f "$matrix" --take framework/hello@2.12
holds "$err" "did you mean 'framework/hello@2.11'?"
expect 0 "$KILN" lock -f "$matrix" --take framework/hello@2.11 -n
cmp tiny/recipes/framework/hello/recipe.json before.json || fail '--dry-run wrote the recipe'
expect 0 "$KILN" lock -f "$matrix" --take framework/hello@2.11
equals "$(diff before.json tiny/recipes/framework/hello/recipe.json | grep '^[<>]')" ">     \"2.11\": {\"facts\": {\"greeting\": \"it's \\\"\$HOME\\\" & \`more\`\"}},"
expect 0 "$KILN" plan -f "$matrix"
expect 0 "$KILN" lock -f "$matrix" --upstream
lacks "$out" hello
cp before.json tiny/recipes/framework/hello/recipe.json

# 8. Hostile answers: told, and nothing else. Ten megabytes are an answer; forty are not.
hostile() { # hostile CODE: a page of this Python; $err is what is said
  "$KILN_PYTHON" -c "import json; $1" >index/hello.json
  expect 0 timeout 60 "$KILN" lock -f "$matrix" --upstream
  [ "$(printf '%s' "$err$out" | tr -d '[:print:]\n\200-\377' | wc -c)" = 0 ] || fail 'it printed control characters'
  lacks "$out" framework/hello
}
hostile 'print("[" * 1000000)'
hostile 'print(json.dumps({"files": [{"filename": "hello-1!99999999999.0.tar.gz"}, {"filename": "hello-../../../etc/passwd.tar.gz"}]}))'
holds "$err" 'hello on the package index: 2 files have no version that kiln can compare'
hostile 'print("{\"files\": [{\"filename\": \"hello-9\x1b[2J\x07.tar.gz\"}]}")'
hostile 'print(json.dumps({"files": [{"filename": "hello-9\x1b[2J.tar.gz"}, {"filename": "hello-9\n9.tar.gz"}]}))'
hostile 'print(json.dumps({"files": [{"filename": "x" * 11000000}]}))'
hostile 'print(json.dumps({"files": [{"filename": "hello-2.9.tar.gz", "a": "b" * 240}] * 40000}))'
[ "$(stat -c %s index/hello.json)" -gt 10000000 ] || fail 'not ten megabytes'
lacks "$err" warning
hostile 'print(" " * 41000000 + "{}")'
holds "$err" 'cannot ask'

# 9. An index that never comes to an end is left, and asked once more; one that is down is asked once in all.
page hello 2.11
touch index/hello.slow
: >index/asked
printf '{"pull": {"wall": "1s"}}\n' >impatient.json
start=$SECONDS
expect 0 "$KILN" --site impatient.json lock -f "$matrix" --upstream
holds "$err" "cannot ask $index for hello: "
[ $((SECONDS - start)) -lt 100 ] || fail 'it waited'
equals "$(wc -l <index/asked)" 2
rm index/hello.slow

# 10. Hostile tags are no versions, and a repository that is none is told.
page hello 2.10
# shellcheck disable=SC2016 # as it stands
for tag in 'v$(reboot)' 'v1;ls' v99999999999999999999999999999999999999999999999999999999999999999 'vx'; do git -C upstream tag "$tag"; done
expect 0 "$KILN" lock -f "$matrix" --upstream
holds "$out" 'library/fast: 0.10 (has 0.3)'
holds "$out" '1 proposal, 0 waiting'
with library/fast '{"git": "ext::sh -c touch% hacked://x", "tags": "v*"}'
expect 1 "$KILN" plan -f "$matrix"
holds "$err" 'expected a URL'
with library/fast '{"git": "ext::touch://hacked", "tags": "v*"}'
expect 0 "$KILN" lock -f "$matrix" --upstream
[ ! -e hacked ] || fail 'git ran a command'
expect 2 "$KILN" lock -f "$matrix" --upstream --by-policy
expect 2 "$KILN" lock -f "$matrix" --upstream -o x
echo "upstream: proposed, limited, remembered; hostile answers told"
