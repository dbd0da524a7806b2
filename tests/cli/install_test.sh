#!/usr/bin/env bash
# cmake --install: an installed kiln works without its source tree, wherever it was put.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

DESTDIR=$work/package cmake --install "$KILN_BUILD" --prefix /opt/kiln >install.log 2>&1 || fail "$(cat install.log)"
prefix=$work/package/opt/kiln
for file in bin/kiln share/kiln/recipes/base/debian/recipe.json share/kiln/matrix/demo.json \
  share/kiln/archspec/microarchitectures.json share/kiln/archspec/LICENSE-MIT share/man/man1/kiln.1 \
  share/man/man1/kiln-index-list.1 share/bash-completion/completions/kiln share/zsh/site-functions/_kiln \
  share/fish/vendor_completions.d/kiln.fish; do
  [ -s "$prefix/$file" ] || fail "$file is not installed"
done
# Every page that a page points to, and what they tell people to run; only the sources stay behind.
docs=$prefix/share/doc/kiln
[ -x "$docs/ci/pin" ] || fail 'ci/pin is not installed'
"$docs/ci/pin" --help >/dev/null || fail 'the installed ci/pin does not run'
[ -s "$docs/README.md" ] || fail 'README.md is not installed'
links=0
for page in "$docs"/*.md "$docs"/docs/*.md "$docs"/docs/formats/*.md; do
  while IFS= read -r link; do
    case $link in http*:* | mailto:* | '#'* | ../factory/* | ../registry/*) continue ;; esac
    [ -e "$(dirname "$page")/${link%%#*}" ] || fail "$page points to $link, which is not installed"
    links=$((links + 1))
  done < <(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//')
done
[ "$links" -gt 30 ] || fail "only $links links"
bash -n "$prefix/share/bash-completion/completions/kiln"
if grep -rqsI "$work" "$prefix/share"; then fail 'the staging folder is named in what was installed'; fi

# After a build of one target, as ci/demo's, what else is installed is built first. The build itself is ninja's: here it is only noted.
cat >only_note <<'SH'
#!/bin/sh
[ ! -e "$0.asked" ] || { echo "$*" >>"$0.asked"; exit 9; }
exec ninja "$@"
SH
chmod +x only_note
cmake -S "$KILN_SOURCE" -B half --preset release -DKILN_TESTS=OFF -DCMAKE_MAKE_PROGRAM="$work/only_note" >configure.log 2>&1 ||
  fail "$(tail -5 configure.log)"
touch only_note.asked
expect 1 cmake --install half --prefix "$work/of_half"
holds "$(cat only_note.asked)" 'kiln kiln_registry_shared'
lacks "$err" 'cannot find'

# Moved, and run from an empty folder: recipes and archspec's tables are found beside the program.
mv "$prefix" moved
mkdir empty && cd empty
kiln=$work/moved/bin/kiln
cat >mine.json <<'JSON'
{"name": "mine", "axes": {"framework": ["pytorch"], "version": ["2.6.0"], "method": ["distro"], "base": ["debian@trixie"], "target": ["zen3"]}}
JSON
expect 0 "$kiln" plan -f mine.json --format json
equals "$(json 'len(it["cells"])')" 1
expect 0 "$kiln" plan -f "$work/moved/share/kiln/matrix/demo.json" --format json
equals "$(json 'len(it["cells"])')" 5
# Recipes beside one's own matrix are one's own; those that they lack are the installed ones.
mkdir -p own/recipes/framework/ours
cat >own/recipes/framework/ours/recipe.json <<'JSON'
{"description": "Ours", "licenses": "MIT", "homepage": "https://example.org/", "versions": {"1.0": {}}, "methods": {"distro": {"script": "x.sh"}}}
JSON
echo true >own/recipes/framework/ours/x.sh
cat >own/ours.json <<'JSON'
{"name": "ours", "axes": {"framework": ["ours"], "version": ["1.0"], "method": ["distro"], "base": ["debian@trixie"], "target": ["zen3"]}}
JSON
expect 0 "$kiln" plan -f own/ours.json --format json
equals "$(json 'len(it["cells"])')" 1
if command -v strace >/dev/null; then
  strace -f -e trace=openat,open -o ../trace "$kiln" plan -f mine.json >/dev/null
  # $work itself lies in the build folder, which may lie in the source tree.
  if grep -F "\"$KILN_SOURCE/" ../trace | grep -vqF "\"$work/"; then fail 'an installed kiln reads the source tree'; fi
fi
mv "$work/moved/share/kiln/archspec" "$work/moved/share/kiln/away"
expect 5 env KILN_ARCHSPEC="$work/absent.json" "$kiln" plan -f mine.json
echo "install: works where it was put"
