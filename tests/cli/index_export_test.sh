#!/usr/bin/env bash
# kiln index export --html: a folder of pages, whole or not at all, and the same bytes for the same index.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
export_to() { expect "$1" "$KILN" --state "$2" index export --html "${@:3}"; }
check_pages() {
  expect 0 "$KILN_PYTHON" -B "$KILN_SOURCE/tests/cli/index_export_pages.py" "$@"
}
beside() { find . -maxdepth 1 -name '.pages.new-*' | wc -l; }

# 1. Well-formed, and every link leads to a file or anchor of the export.
expect 0 "$KILN_BUILD/tests/make_catalogue" state 60
export_to 0 state pages
holds "$out" 'pages: snapshot 3, 60 images'
check_pages pages 60
equals "$out" '68 pages' # and index, ask, compare, images, nights, three nights
holds "$(cat pages/index.html)" 'Snapshot 3 of 2026-11-22T04:00:00Z.'
page=pages/images/pytorch/2.0.0-pip-x86_64_v3-trixie.html
for words in 'srun --container-image=' 'registry.site:5000#ai/pytorch' 'docker pull registry.site:5000/ai/pytorch:2.0.0-pip-x86_64_v3-trixie-' \
  'ch-run ' 'sarus pull ' 'apptainer pull pytorch_2.0.0-pip-x86_64_v3-trixie.sif docker://registry.site' 'class="whisker"' 'nid0412 (x86_64_v3)' \
  'not kept with this image' 'kiln generate -f matrix/current.json -o out pytorch-2.0.0-pip-x86_64_v3-trixie' '<th scope="row">2 to 3</th>' '<th scope="row">1</th>'; do
  grep -qF -- "$words" "$page" || fail "$page has no '$words'"
done
grep -lq 'wrong results on zen4' -r pages/images || fail 'no page says that its image is retired'
grep -q 'nights/demo/2.html' pages/nights.html || fail 'no night is listed'
holds "$(cat pages/nights/demo/2.html)" 'no wheel of it for Python 3.13'
expect 1 "$KILN_PYTHON" -B "$KILN_SOURCE/tests/cli/index_export_pages.py" pages 61 # the checker can fail
cp -r pages broken
for part in 's|<h1>|<h1 onclick="x">|' 's|href="index.html"|href="https://example.org/"|' 's|</nav>||'; do edit "$part" broken/ask.html; done
rm broken/nights/demo/1.html
expect 1 "$KILN_PYTHON" -B "$KILN_SOURCE/tests/cli/index_export_pages.py" broken 60
for words in 'ask.html: <h1 onclick>' 'leads elsewhere' 'closes nothing' 'nights.html: leads nowhere: nights/demo/1.html'; do holds "$out" "$words"; done

# 2. The same index gives the same bytes, wherever and whenever; another snapshot others.
cp -r state elsewhere
TZ=Asia/Tokyo SOURCE_DATE_EPOCH=1 LC_ALL=C.UTF-8 "$KILN" --state elsewhere index export --html again >/dev/null
diff -r pages again || fail 'the same index gives other pages'
export_to 0 state older --snapshot 1
holds "$(cat older/index.html)" 'Snapshot 1 of 2026-11-20T04:00:00Z, which is not the current one.'
lacks "$(cat older/images/*/*.html)" 'class="badge bad">retired'
export_to 4 state older --snapshot 9
holds "$err" 'there is no snapshot 9'
holds "$(cat older/kiln-catalogue.json)" '"snapshot": 1'

# 3. An earlier export is replaced, and nothing else is.
export_to 0 state older
diff -r pages older || fail 'an export over another one leaves something of it'
mkdir empty
export_to 0 state empty
diff -r pages empty
mkdir full
echo mine >full/notes.txt
export_to 2 state full
holds "$err" "full contains files, and no catalogue that kiln wrote; name a new folder, an empty folder, or an earlier catalogue"
echo mine >again/notes.txt
export_to 2 state again
holds "$err" "again contains 'notes.txt', which is not part of a catalogue"
export_to 2 state full/notes.txt
holds "$err" 'is not a folder'
equals "$(cat full/notes.txt again/notes.txt)" "$(printf 'mine\nmine')"
export_to 2 state /
holds "$err" 'is the root of the file system'
ln -s older link
export_to 0 state link/
[ -L link ] || fail 'the link was replaced'
expect 2 "$KILN" --state state index export
holds "$err" 'say what to export: --html DIR or --mappings'
expect 2 "$KILN" --state state index export --mappings --html pages
export_to 8 nowhere none
holds "$err" 'there is no index in'
[ ! -e none ] || fail 'something was written without an index'
(umask 077 && "$KILN" --state state index export --html private >/dev/null)
equals "$(stat -c %a private pages | tr '\n' ' ')" '700 755 '

# 4. A full disk leaves the old one as it was, and nothing beside it.
mkdir small
if mount -t tmpfs -o size=600k,mode=755 none small 2>/dev/null; then
  expect 0 "$KILN_BUILD/tests/make_catalogue" tiny 3
  export_to 0 tiny small/pages
  cp -r small/pages before
  export_to 8 state small/pages
  holds "$err" 'No space left on device'
  diff -r before small/pages
  equals "$(ls -A small)" pages
fi

# 5. Killed at any moment, there is the old one or the new one; the next export takes away what is left.
expect 0 "$KILN_BUILD/tests/make_catalogue" large 600
export_to 0 large new
rm -rf older
for turn in {1..12}; do
  rm -rf pages
  cp -r empty pages
  timeout -s KILL "0.0$((turn * 7))" "$KILN" --state large index export --html pages >/dev/null 2>&1 || true
  diff -rq pages empty >/dev/null || diff -rq pages new >/dev/null || fail 'a killed export is neither the old one nor the new one'
done
mkdir ".pages.new-$(uname -n)-abcdef"
export_to 0 large pages
equals "$(beside)" 0
diff -r pages new

# 6. What anybody may have written stays text.
"$KILN_PYTHON" - >hostile.json <<'PY'
import json
names = ["</script><script>alert(1)</script>", "\"'onclick=alert(3)", "\u202egnp.exe", "a\u2028b", "../../../up", "javascript:alert(4)", "\u200b\ufeff", "%2e%2e%2f", "A", "a"]
print(json.dumps([{"opt_dsl_code": name, "app_name": "x" + name, "version": "1." + str(i), "target": {"cpu_type": "x86", "acc_type": "none"},
                   "selectors": {name: name}, "container_name": name} for i, name in enumerate(names)]))
PY
expect 0 "$KILN" --state hostile index import hostile.json
export_to 0 hostile hostile-pages
check_pages hostile-pages 10
equals "$(find hostile-pages/mappings -name '*.html' | wc -l)" 10
equals "$(find hostile-pages -name '*[!a-zA-Z0-9._~-]*' | wc -l)" 0
lacks "$(cat hostile-pages/*.html hostile-pages/data.js hostile-pages/mappings/*)" '<script>alert'
holds "$(cat hostile-pages/mappings/*)" '[U+202E]gnp.exe'
holds "$(cat hostile-pages/data.js)" '[U+2028]'

# 7. Nothing was published: said so.
echo '[]' >none.json
expect 0 "$KILN" --state nothing index import none.json
export_to 0 nothing nothing-pages
holds "$(cat nothing-pages/index.html)" 'Nothing was published yet.'
echo 'export: well-formed, whole, the same bytes'
