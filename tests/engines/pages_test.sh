#!/usr/bin/env bash
# The catalogue's pages in a browser: 10,000 images, from a file and from a server; docs/publish.md.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
axe=$(echo "$KILN_SOURCE"/.cache/validators/lib/python3*/site-packages/axe_selenium_python/node_modules/axe-core/axe.min.js)
if ! [ -f "$axe" ] || ! command -v chromedriver >/dev/null || ! /usr/bin/python3 -c 'import selenium' 2>/dev/null; then
  echo 'skipped: ci/setup --validators was not run'
  exit 77
fi

# serve WORD COMMAND…: starts a server that says where it serves after WORD; then in $url.
serve() {
  "${@:2}" >served 2>&1 &
  at_exit "kill $! 2>/dev/null || true"
  until_true $! served grep -qE "$1 ?[0-9]+" served
  url=http://127.0.0.1:$(grep -oE "$1 ?[0-9]+" served | grep -oE '[0-9]+$')
}

# Tens of thousands of files, which a disk takes minutes to remove: in memory where there is room.
where=$work
room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1 || true)
[ "${room:-0}" -lt 2000000 ] || where=/dev/shm
ground=$(mktemp -d "$where/kiln-pages-XXXXXX")
at_exit "rm -rf '$ground'"

# 1. Many images, some measured, stale or retired, and nights.
expect 0 "$KILN_BUILD/tests/make_catalogue" "$ground/many" 10000
expect 0 "$KILN" --state "$ground/many" index export --html "$ground/pages"
holds "$out" 'pages: snapshot 3, 10000 images'
"$KILN" --state "$ground/many" index list --format json >images.json

# 2. Names that want to be something else than text.
"$KILN_PYTHON" - >hostile.json <<'PY'
import json
names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"'onclick=alert(3) x='", "\u202egnp.exe", "a\u2028b", "../../up",
         "javascript:alert(4)", "&lt;b&gt;", "${alert(5)}", "`alert(6)`"]
print(json.dumps([{"opt_dsl_code": f"code {i} {name}", "app_name": "x" + name, "version": "1." + str(i), "enable_opt_build": True,
                   "target": {"cpu_type": "x86", "acc_type": "none"}, "selectors": {}, "container_name": name.replace(" ", "/"), "container_type": "docker"}
                  for i, name in enumerate(names)]))
PY
expect 0 "$KILN" --state hostile index import hostile.json
expect 0 "$KILN" --state hostile index export --html hostile-pages

# 3. What a person does and sees. The command that the form wrote is one that the program takes.
serve 'on 127.0.0.1:' "$KILN" --state "$ground/many" serve --listen 127.0.0.1:0
ask=$url
serve 'port' /usr/bin/python3 -u -m http.server --bind 127.0.0.1 --directory "$ground/pages" 0 # the pages alone
silent=$url
/usr/bin/python3 -B "$KILN_SOURCE/tests/engines/pages_browser.py" "$ground/pages" images.json hostile-pages "$ask" "$silent" pictures "$axe" \
  nights/demo/2.html || fail 'a page is not what it should be'
expect 0 bash -c "kiln() { '$KILN' --state '$ground/many' \"\$@\"; }; . ./asked.sh"
holds "$out" 'pytorch:2.6'
expect 0 bash -c "kiln() { '$KILN' --state '$ground/many' \"\$@\"; }; . ./job.sh"
holds "$out" '#SBATCH --job-name=job'
holds "$out" './train.sh --epochs 5'
bash -n shown.sh
