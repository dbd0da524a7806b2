#!/usr/bin/env bash
# ci/figures: pictures, tables and numbers of a tree's pages come from its samples, and --check sees what does not.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
export KILN
figures() { "$KILN_PYTHON" -B "$KILN_SOURCE/ci/figures" --root "$work/tree" "$@"; }
mkdir -p tree/docs/figures
cp "$KILN_SOURCE/docs/paper-claims.json" tree/docs
write_pages() {
  cat >tree/README.md <<'MD'
XLA is <!-- figures:speed xla --><!-- end --> as nothing, and stays so.
MD
  cat >tree/docs/page.md <<'MD'
# Ours
<!-- figures:paper -->
<!-- end -->
<!-- figures:pictures compilers -->
old words
<!-- end -->
<!-- figures:tables -->
<!-- end -->
The end.
MD
}

# Without samples: said so, and stable.
write_pages
expect 1 figures --check
equals "$err" "$(printf '%s:1: error: is not what the samples say: run ci/figures\n' README.md docs/page.md)"
lacks "$(cat tree/README.md)" 'not measured'
expect 0 figures
expect 0 figures --check
equals "$err" ''
equals "$(cat tree/README.md)" 'XLA is <!-- figures:speed xla -->not measured<!-- end --> as nothing, and stays so.'
equals "$(grep -c '| not measured | | | |' tree/docs/page.md)" 10
equals "$(grep -c 'Nothing was measured yet' tree/docs/page.md)" 2
holds "$(cat tree/docs/page.md)" 'The end.'

# With them: ours beside the paper's, gains and losses.
cp "$KILN_SOURCE/tests/data/figures/one-host.json" tree/docs/figures
expect 1 figures --check
holds "$err" 'docs/page.md:1: error: is not what the samples say'
holds "$err" 'docs/figures/compilers-mnist-cnn.svg:1: error: is not what the samples say'
expect 0 figures
expect 0 figures --check
cmp tree/docs/figures/methods-mnist-cnn.svg "$KILN_SOURCE/tests/data/golden/figures/methods-mnist-cnn.svg"
page=$(cat tree/docs/page.md)
lacks "$page" 'old words'
holds "$page" '![compilers mnist cnn](figures/compilers-mnist-cnn.svg)'
lacks "$page" 'figures/methods-mnist-cnn.svg'
holds "$page" '#### With and without graph compilers'
holds "$(grep '^| 3 |' tree/docs/page.md)" '| +54 % | speed +24 % (+22 % to +26 %), time −19 % | same | 30 points below | Example processor of a made-up test, 2 processors, 2 threads, 2026-11-22 |'
holds "$(grep 'with XLA against without, "the 30%' tree/docs/page.md)" '| −30 % | speed −27 % (−28 % to −26 %), time +37 % | same | 3 points above |'
holds "$(grep 'TensorFlow.s custom build against the stock image, "little' tree/docs/page.md)" '| speed +1 % (0 % to +3 %), time −1 % | no difference here | 3 points below |'
equals "$(grep -c '^| [45], right .*| not measured | | | |' tree/docs/page.md)" 3 # those of GPUs
holds "$(cat tree/README.md)" '-->0.73 times as fast (0.72 to 0.74)<!-- end --> as nothing'

# A number that somebody typed, a picture that nothing makes.
edit 's/0.73 times/0.93 times/' tree/README.md
touch tree/docs/figures/older.svg
expect 1 figures --check
equals "$err" "$(printf '%s:1: error: is not what the samples say: run ci/figures\n' README.md docs/figures/older.svg)"
expect 0 figures
equals "$out" "$(printf 'README.md\ndocs/figures/older.svg: gone')"
[ ! -e tree/docs/figures/older.svg ] || fail 'older.svg is still there'

# Marks and samples that are wrong: nothing is written.
wrong() { # wrong WORDS: exit status 1 and these words, and no page is touched
  cp -r tree before
  expect 1 figures
  holds "$err" "$1"
  diff -r before tree
  rm -rf before
}
echo '<!-- figures:cake --><!-- end -->' >>tree/README.md
wrong "README.md:2: error: 'cake' is nothing that ci/figures makes"
edit 's/figures:cake/figures:speed cake/' tree/README.md
wrong "README.md:2: error: there is no claim 'cake' in docs/paper-claims.json: tensorflow-2.1,"
edit '2s/.*/<!-- figures:paper -->/' tree/README.md
wrong 'README.md:2: error: a mark of figures has no end'
printf '<!-- figures:paper -->\n<!-- figures:paper -->\n<!-- end -->\n' >tree/README.md
wrong "README.md:1: error: 'figures:paper' has no end"
write_pages
expect 0 figures
change() { # change PYTHON: a second file of samples, of which `r` is the first run
  "$KILN_PYTHON" - tree/docs/figures "$1" <<'PY'
import json, sys
it = json.load(open(sys.argv[1] + "/one-host.json"))
r = it["runs"][0]
exec(sys.argv[2])
json.dump(it, open(sys.argv[1] + "/second.json", "w"))
PY
}
change 'r["host"]["model"] = ""'
wrong 'docs/figures/second.json:1: error: run 0 does not say its host'
change 'del r["kiln"]'
wrong 'docs/figures/second.json:1: error: run 0 does not say its commit of kiln'
change 'r["conditions"] = {}'
wrong 'docs/figures/second.json:1: error: run 0 does not say its load'
change 'r["samples"] = []'
wrong 'a run has at least one sample'
echo '[]' >tree/docs/figures/second.json
wrong 'docs/figures/second.json:1: error: is no file of runs'
# Two stock images of one version: the claim does not say which.
change 'it["runs"] = it["runs"][:1]; r["name"] = "tensorflow:1.14.0-hub"; r["image"] = "sha256:" + 64 * "0"; r["session"] = "another"'
wrong "tensorflow-2.1: 'from' is of several images: tensorflow:1.14.0-hub, tensorflow:1.14.0-pip-bullseye"
rm tree/docs/figures/second.json
cp tree/docs/paper-claims.json claims.json
edit '0,/"method": "source"/s//"methd": "source"/' tree/docs/paper-claims.json
wrong 'docs/paper-claims.json:1: error: tensorflow-source: no key of images is called methd'
sed '0,/"paper": 54,/s///' claims.json >tree/docs/paper-claims.json
wrong "docs/paper-claims.json:1: error: the claim 'tensorflow-2.1' has no paper"
echo '{' >tree/docs/paper-claims.json
wrong 'docs/paper-claims.json:1: error: is no file of claims'
cp claims.json tree/docs/paper-claims.json
# Another host is a row of its own, never the other side of a comparison.
change 'it["runs"] = [r for r in it["runs"] if r["axes"]["compilers"] == ["xla"]]
for r in it["runs"]: r["host"]["model"] = "Elsewhere"'
expect 0 figures
equals "$(grep -c 'with XLA against without, "the 30%' tree/docs/page.md)" 1
lacks "$(grep '"the 30%' tree/docs/page.md)" Elsewhere


# Numbers of benchmarks: medians of the samples that ci/bench kept.
rm tree/docs/figures/second.json
cat >tree/docs/performance.json <<'JSON'
{"plan": {"ratio": "{kiln.cpu:.2f} s : {ninja.cpu:.2f} s = {kiln.cpu / ninja.cpu:.1f} (medians of {kiln.runs})"}}
JSON
echo 'By <!-- figures:bench plan --><!-- end -->: <!-- figures:bench plan.ratio --><!-- end -->.' >tree/README.md
expect 0 figures
equals "$(cat tree/README.md)" 'By <!-- figures:bench plan -->not measured<!-- end -->: <!-- figures:bench plan.ratio -->not measured<!-- end -->.'
mkdir tree/docs/samples
cat >tree/docs/samples/plan.json <<'JSON'
{"format": 1, "bench": "plan", "date": "2026-11-24", "commit": "0123456789ab", "host": {"model": "A processor", "cores": 2, "memory_bytes": 8589934592},
 "conditions": {"load": 0.25, "load_after": 1.0}, "series": {"kiln": {"cpu": [0.5, 0.3, 9.0]}, "ninja": {"cpu": [0.1, 0.2]}}}
JSON
expect 1 figures --check
equals "$err" 'README.md:1: error: is not what the samples say: run ci/figures'
expect 0 figures
holds "$(cat tree/README.md)" '-->A processor, 2 processors, 8 GiB; 2026-11-24; commit 0123456789ab; load 0.2 before, 1.0 after<!--'
holds "$(cat tree/README.md)" '-->0.50 s : 0.15 s = 3.3 (medians of 3)<!--'
expect 0 figures --check
cp tree/README.md page.md
echo '<!-- figures:bench plan.speed --><!-- end -->' >>tree/README.md
wrong 'README.md:2: error: docs/performance.json has no text for plan.speed'
cp page.md tree/README.md
edit 's/ninja.cpu:/ninja.wall:/' tree/docs/performance.json
wrong "README.md:1: error: the series ninja has no 'wall'"
edit 's/ninja.wall:/make.cpu:/' tree/docs/performance.json
wrong "README.md:1: error: docs/performance.json: plan.ratio: {make.cpu:.2f}: name 'make' is not defined"
edit 's/"load": 0.25, //' tree/docs/samples/plan.json
wrong 'docs/samples/plan.json:1: error: is no file of samples'

expect 2 figures --cheese
expect 5 env KILN="$work/absent" "$KILN_PYTHON" -B "$KILN_SOURCE/ci/figures" --root "$work/tree"
echo 'figures: ok'
