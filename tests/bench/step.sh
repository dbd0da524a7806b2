#!/usr/bin/env bash
# The price of a step: an image of trivial steps, built by kiln and, as a Dockerfile of as many RUNs, by `buildah build --layers`; in turn,
# as machines change their speed. Samples on stdout, a line of JSON each (ci/bench).
#   tests/bench/step.sh FOLDER     FOLDER: empty, or of the same steps; KILN: the program (default: build/release/kiln);
#                                  KILN_BENCH_STEPS=N (default 12); KILN_BENCH_RUNS=N: how often (default 5)
# Needs buildah and busybox, as the tests with real engines do. The base is there before; the steps are one after the other.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kiln=${KILN:-$source/build/release/kiln}
steps=${KILN_BENCH_STEPS:-12}
mkdir -p "${1:?usage: tests/bench/step.sh FOLDER}"
cd "$1"
export SOURCE_DATE_EPOCH=315532800 KILN_SITE=$PWD/site.json KILN_PROGRESS=none
echo '{"evidence": "report", "formats": ["oci"]}' >site.json

recipe() { # recipe NEEDS: a toolchain or framework of one step
  printf '{"description": "d", "licenses": "MIT", "homepage": "https://example.org", "versions": {"1": {}},
 "methods": {"distro": {"script": "run.sh", "needs": [%s]}}}\n' "$1"
}
if [ ! -d catalogue ]; then
  mkdir -p catalogue/recipes/base catalogue/recipes/framework
  cp -r "$source/tests/data/tiny/targets" catalogue/
  cp -r "$source/tests/data/tiny/recipes/base/busybox" catalogue/recipes/base/
  needs=''
  for ((step = 1; step < steps; ++step)); do
    folder=catalogue/recipes/toolchain/t$step
    mkdir -p "$folder"
    recipe '' >"$folder/recipe.json"
    echo "echo $step >/file$step" >"$folder/run.sh"
    needs+="${needs:+, }{\"kind\": \"toolchain\", \"name\": \"t$step\"}"
  done
  for name in one all; do
    folder=catalogue/recipes/framework/$name
    mkdir -p "$folder"
    if [ "$name" = one ]; then recipe ''; else recipe "$needs"; fi >"$folder/recipe.json"
    echo "echo $name >/file" >"$folder/run.sh"
    printf '{"name": "%s", "axes": {"framework": ["%s"], "version": ["1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["plain"]}}\n' \
      "$name" "$name" >"catalogue/$name.json"
  done
fi

now() { date +%s.%N; }
tell() { # tell WHO START
  awk -v who="$1" -v start="$2" -v end="$(now)" 'BEGIN {printf "{\"series\": \"%s\", \"wall\": %.3f}\n", who, end - start}'
}
by_kiln() {
  rm -rf state
  "$kiln" build -f catalogue/one.json --state state >log 2>&1 || { cat log >&2; exit 1; }
  local start
  start=$(now)
  "$kiln" build -f catalogue/all.json --state state >log 2>&1 || { cat log >&2; exit 1; }
  tell kiln "$start"
}
buildah=(buildah --root "$PWD/root" --runroot "$PWD/run" --storage-driver overlay)
by_buildah() {
  local container start
  if [ ! -d root ]; then
    KILN_OUTPUT=$PWD/base.tar KILN_VERSION=1.35 sh -eu catalogue/recipes/base/busybox/rootfs.sh
    container=$("${buildah[@]}" from scratch)
    "${buildah[@]}" add --quiet "$container" base.tar /
    "${buildah[@]}" commit --quiet "$container" localhost/base
    "${buildah[@]}" rm "$container"
  fi >log 2>&1
  { echo 'FROM localhost/base'; for ((step = 1; step <= steps; ++step)); do echo "RUN echo $step >/file$step # $RANDOM$RANDOM"; done; } >Dockerfile
  start=$(now)
  "${buildah[@]}" build --layers --isolation chroot --network host --tag localhost/all . >log 2>&1 || { cat log >&2; exit 1; }
  tell buildah "$start"
}

for ((run = 0; run < ${KILN_BENCH_RUNS:-5}; ++run)); do
  by_kiln
  by_buildah
done
