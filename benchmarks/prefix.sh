#!/usr/bin/env bash
# Eight images whose first steps are the same: built by kiln, one step at a time; as one Dockerfile of their distinct steps by
# `buildah build --layers`; and each from its own definition file by `apptainer build`. In turn, as machines change their speed.
# Samples on stdout, a line of JSON each (ci/bench): `kiln_4`, `distinct_4`, `apptainer_4` with four such steps, ….
#   benchmarks/prefix.sh FOLDER [STEPS…]   FOLDER: empty, or of the same images; STEPS: how many are the same (default: 4 12);
#                                  KILN: the program (default: build/release/kiln); KILN_BENCH_RUNS=N: how often (default 3)
# Needs buildah, busybox and Apptainer (ci/setup --apptainer). A step hashes zeros for about a second. kiln makes OCI images, with their
# evidence; apptainer SIF files.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kiln=${KILN:-$source/build/release/kiln}
images=8
work='dd if=/dev/zero bs=1M count=400 2>/dev/null | sha256sum'
mkdir -p "${1:?usage: benchmarks/prefix.sh FOLDER}"
cd "$1"
shift
[ $# -gt 0 ] || set -- 4 12
export SOURCE_DATE_EPOCH=315532800 KILN_SITE=$PWD/site.json KILN_PROGRESS=none
echo '{"formats": ["oci"]}' >site.json

recipe() { # recipe NEEDS: a toolchain or framework of one step
  printf '{"description": "d", "licenses": "MIT", "homepage": "https://example.org", "versions": {"1": {}},
 "methods": {"distro": {"script": "run.sh", "needs": [%s]}}}\n' "$1"
}
make_catalogue() { # of images of which $prefix steps are the same
  mkdir -p "$prefix"/catalogue/recipes/base "$prefix"/catalogue/recipes/framework
  cp -r "$source/tests/data/tiny/targets" "$prefix"/catalogue/
  cp -r "$source/tests/data/tiny/recipes/base/busybox" "$prefix"/catalogue/recipes/base/
  needs=''
  for ((step = 1; step <= prefix; ++step)); do
    mkdir -p "$prefix/catalogue/recipes/toolchain/t$step"
    recipe '' >"$prefix/catalogue/recipes/toolchain/t$step/recipe.json"
    echo "$work >/prefix$step" >"$prefix/catalogue/recipes/toolchain/t$step/run.sh"
    needs+="${needs:+, }{\"kind\": \"toolchain\", \"name\": \"t$step\"}"
  done
  names=''
  for ((image = 1; image <= images; ++image)); do
    mkdir -p "$prefix/catalogue/recipes/framework/f$image"
    recipe "$needs" >"$prefix/catalogue/recipes/framework/f$image/recipe.json"
    echo "$work >/own$image" >"$prefix/catalogue/recipes/framework/f$image/run.sh"
    names+="${names:+, }\"f$image\""
  done
  printf '{"name": "prefix", "axes": {"framework": [%s], "version": ["1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["plain"]}}\n' \
    "$names" >"$prefix"/catalogue/prefix.json
  "$kiln" generate -f "$prefix"/catalogue/prefix.json -o "$prefix/definitions" >/dev/null
  for script in "$prefix"/definitions/*/*/rootfs.sh; do sh "$script" >/dev/null; done # not measured
  chmod a+rwx . && chmod -R a+rwX "$prefix" # Apptainer runs as a user of its own
}

now() { date +%s.%N; }
measure() { # measure WHO COMMAND…
  local start who=$1
  start=$(now)
  "${@:2}" >log 2>&1 || { cat log >&2; exit 1; }
  awk -v who="$who" -v start="$start" -v end="$(now)" 'BEGIN {printf "{\"series\": \"%s\", \"wall\": %.3f}\n", who, end - start}'
}
buildah=(buildah --root "$PWD/root" --runroot "$PWD/run" --storage-driver overlay)
distinct() {
  mkdir -p context
  {
    echo 'FROM localhost/base'
    for ((step = 1; step <= prefix; ++step)); do echo "RUN $work >/prefix$step # $RANDOM$RANDOM"; done
    for ((image = 1; image <= images; ++image)); do echo "RUN $work >/own$image"; done
  } >context/Dockerfile
  "${buildah[@]}" build --layers --isolation chroot --network host --tag localhost/all context
}
from_definitions() {
  local definition
  for definition in "$prefix"/definitions/*/*/Singularity.def; do
    (cd "$(dirname "$definition")" && "$source/ci/apptainer" run build --fakeroot --force image.sif Singularity.def) || return
  done
}
if [ ! -d root ]; then
  "$source/ci/apptainer" install
  KILN_OUTPUT=$PWD/base.tar KILN_VERSION=1.35 sh -eu "$source/tests/data/tiny/recipes/base/busybox/rootfs.sh"
  container=$("${buildah[@]}" from scratch)
  "${buildah[@]}" add --quiet "$container" base.tar /
  "${buildah[@]}" commit --quiet "$container" localhost/base
  "${buildah[@]}" rm "$container"
fi >log 2>&1

for ((run = 0; run < ${KILN_BENCH_RUNS:-3}; ++run)); do
  for prefix in "$@"; do
    [ -d "$prefix" ] || make_catalogue
    rm -rf state
    measure "kiln_$prefix" "$kiln" build -f "$prefix/catalogue/prefix.json" --state state --jobs 1
    measure "distinct_$prefix" distinct
    measure "apptainer_$prefix" from_definitions
    [ "$(find "$prefix/definitions" -name image.sif | wc -l)" = "$images" ] || { echo 'not as many SIF files as images' >&2; exit 1; }
    find "$prefix/definitions" -name image.sif -delete
  done
done
