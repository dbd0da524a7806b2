#!/usr/bin/env bash
# kiln serve: the pages of the catalogue, with the bytes of `kiln index export --html`, beside its other answers.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/serve.sh
. "$KILN_SOURCE/tests/support/serve.sh"
# ask STATUS PATH [OPTION…]: the answer is in the files answer and headers.
ask() { equals "$(curl -sS --path-as-is -o answer -D headers -w '%{http_code}' "${@:3}" "$url$2")" "$1"; }

# 1. Without an index there are no pages, and with one they come without a restart.
mkdir state
# shellcheck disable=SC2119 # without options
start_server
ask 404 /
expect 0 "$KILN_BUILD/tests/make_catalogue" state 40
expect 0 "$KILN" --state state index export --html pages
ask 200 /
cmp answer pages/index.html
count=0
while read -r file; do
  ask 200 "/$file"
  cmp answer "pages/$file"
  count=$((count + 1))
done < <(cd pages && find . -type f ! -name kiln-catalogue.json -printf '%P\n')
[ "$count" -gt 50 ] || fail "only $count pages"
ask 200 /assets/pages.css
holds "$(cat headers)" 'Content-Type: text/css; charset=utf-8'
for header in 'X-Content-Type-Options: nosniff' "Content-Security-Policy: frame-ancestors 'none'" 'Cache-Control: no-cache'; do holds "$(cat headers)" "$header"; done
ask 200 /index.html --head
holds "$(cat headers)" "Content-Length: $(stat -c %s pages/index.html)"

# 2. Nothing else is a page, and the other answers are as they were.
for path in /assets/none.js /images/pytorch/none.html /images/ /assets/%2e%2e/index.html /nights/demo/99.html /kiln-catalogue.json /index.db; do
  case $path in
    *%2e* | */) ask 400 "$path" ;;
    *) ask 404 "$path" ;;
  esac
done
ask 404 /index.html -X POST
ask 200 /healthz
ask 200 /v1/snapshots

# 3. What is published meanwhile is on the next page that is asked for, whoever asks beside.
name=$("$KILN" --state state index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["name"])')
for _ in 1 2 3 4; do curl -sS "$url/data.js" -o /dev/null & done
expect 0 "$KILN" --state state index retire "$name" --reason 'a <b>reason</b>'
ask 200 "/images/${name/://}.html"
holds "$(cat answer)" 'a &lt;b&gt;reason&lt;/b&gt;'
ask 200 /
holds "$(cat answer)" 'Snapshot 4 of '
kill "$server"
status=0
wait "$server" || status=$?
equals "$status" 0
echo 'serve: the pages of the export'
