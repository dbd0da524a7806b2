#!/usr/bin/env bash
# Packaging an image, without SIF, and then another that shares its base: samples on stdout, a line of JSON each (ci/bench).
#   benchmarks/package.sh FOLDER [TREE…]    TREE: folders of this machine that the base is made of; KILN: the program
#                                            (default: build/release/kiln); KILN_BENCH_RUNS=N: how often (default 3)
# Needs buildah and busybox, as the tests with real engines do. Wall seconds, CPU seconds, peak memory in bytes; the page
# cache is warm. Each run begins with nothing kept of what was found before.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kiln=${KILN:-$source/build/release/kiln}
mkdir -p "${1:?usage: benchmarks/package.sh FOLDER [TREE…]}"
cd "$1"
shift
[ $# -gt 0 ] || set -- /usr/lib/gcc /usr/lib/python3 /usr/lib/python3.* /usr/share/doc /var/lib/dpkg
export SOURCE_DATE_EPOCH=315532800 KILN_SITE=$PWD/site.json
cells=(hello-2.10-distro-plain-busybox_1.35 hello-2.1-distro-plain-busybox_1.35)

if [ ! -d .kiln ]; then
  cp -r "$source/tests/data/tiny" tiny
  sed -i "s|^tar -C |tar -C / -c ${*#/} \| tar -C \"\$tree\" -x\n&|" tiny/recipes/base/busybox/rootfs.sh
  echo '{"evidence": "report", "formats": ["oci"]}' >site.json
  "$kiln" build -f tiny/tiny.json library=none compiler=none >log 2>&1 || { cat log >&2; exit 1; }
fi

package() { # series, cell
  /usr/bin/time -o figures -f '%e %U %S %M' "$kiln" step --state "$PWD/.kiln" --plan tiny --image "$2" >log 2>&1 || { cat log >&2; exit 1; }
  read -r wall user system memory <figures
  printf '{"series": "%s", "wall": %s, "cpu": %s, "rss": %s}\n' "$1" "$wall" "$(awk "BEGIN {print $user + $system}")" $((memory * 1024))
}

for ((run = 0; run < ${KILN_BENCH_RUNS:-3}; ++run)); do
  rm -rf .kiln/evidence .kiln/built
  mkdir .kiln/built
  package first "${cells[0]}"
  package second "${cells[1]}"
done
printf '{"series": "layers", "bytes": %s, "kept_bytes": %s}\n' \
  "$(sed -n 's/.*"size": \([0-9]*\).*/\1/p' .kiln/built/*.json | sort -n | tail -1)" \
  "$(cat .kiln/evidence/layer-* 2>/dev/null | wc -c)"
