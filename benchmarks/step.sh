#!/usr/bin/env bash
# The price of a step: an image of trivial steps, built by kiln with an engine and, as a Dockerfile of as many RUNs, by the engine's own
# `build`; in turn, as machines change their speed. Samples on stdout, a line of JSON each (ci/bench): `kiln_buildah`, `buildah`, ….
#   benchmarks/step.sh FOLDER [ENGINE…]   FOLDER: empty, or of the same steps; ENGINE: buildah (the default), podman, docker;
#                                          KILN: the program (default: build/release/kiln); KILN_BENCH_STEPS=N (default 12);
#                                          KILN_BENCH_RUNS=N: how often (default 5)
# Needs the engines and busybox, as the tests with real engines do; for docker a daemon, which DOCKER_HOST names. The base is there before;
# the steps are one after the other.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kiln=${KILN:-$source/build/release/kiln}
steps=${KILN_BENCH_STEPS:-12}
mkdir -p "${1:?usage: benchmarks/step.sh FOLDER}"
cd "$1"
shift
[ $# -gt 0 ] || set -- buildah
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
by_kiln() { # by_kiln ENGINE
  rm -rf state
  "$kiln" build -f catalogue/one.json --state state --engine "$1" >log 2>&1 || { cat log >&2; exit 1; }
  local start
  start=$(now)
  "$kiln" build -f catalogue/all.json --state state --engine "$1" >log 2>&1 || { cat log >&2; exit 1; }
  tell "kiln_$1" "$start"
}

dockerfile() {
  echo 'FROM localhost/base'
  for ((step = 1; step <= steps; ++step)); do echo "RUN echo $step >/file$step # $RANDOM$RANDOM"; done
}
[ -e base.tar ] || KILN_OUTPUT=$PWD/base.tar KILN_VERSION=1.35 sh -eu catalogue/recipes/base/busybox/rootfs.sh >log 2>&1
buildah=(buildah --root "$PWD/root" --runroot "$PWD/run" --storage-driver overlay)
podman=(podman --root "$PWD/podman-root" --runroot "$PWD/podman-run" --storage-driver overlay --cgroup-manager cgroupfs)
by_engine() { # by_engine ENGINE: by its own build
  local start container
  mkdir -p context
  dockerfile >context/Dockerfile
  case $1 in
    buildah)
      if [ ! -d root ]; then
        container=$("${buildah[@]}" from scratch)
        "${buildah[@]}" add --quiet "$container" base.tar /
        "${buildah[@]}" commit --quiet "$container" localhost/base
        "${buildah[@]}" rm "$container"
      fi >log 2>&1
      set -- buildah "${buildah[@]}" build --layers --isolation chroot --network host
      ;;
    podman)
      [ -d podman-root ] || "${podman[@]}" import base.tar localhost/base >log 2>&1
      set -- podman "${podman[@]}" build --layers --isolation oci --runtime runc --network host --ulimit "nproc=1024:1024"
      ;;
    docker)
      docker image inspect localhost/base >log 2>&1 || docker import base.tar localhost/base >log 2>&1
      set -- docker docker build --network host
      ;;
  esac
  start=$(now)
  "${@:2}" --tag localhost/all context >log 2>&1 || { cat log >&2; exit 1; }
  tell "$1" "$start"
}

for ((run = 0; run < ${KILN_BENCH_RUNS:-5}; ++run)); do
  for engine in "$@"; do
    by_kiln "$engine"
    by_engine "$engine"
  done
done
