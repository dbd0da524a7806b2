#!/usr/bin/env bash
# The demo as a newcomer meets it: samples on stdout, a line of JSON each (ci/bench).
#   benchmarks/demo.sh        needs what ci/setup installs, and the network of the demo's recipes
# `compile`: the program alone, of a fresh clone without a compiler cache; `demo`: all of ci/demo, likewise; `again`: once more.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 KILN_PROGRESS=none
unset KILN_SITE
measure() { python3 "$root/benchmarks/measure.py" "$@"; }
git clone --quiet "$root" "$work/kiln"
cd "$work/kiln"
ci/setup >&2
cmake --preset release >/dev/null
measure compile 1 ninja -C build/release kiln
cd "$work"
rm -rf kiln
git clone --quiet "$root" "$work/kiln"
cd "$work/kiln"
measure demo 1 ci/demo
measure again 3 ci/demo
