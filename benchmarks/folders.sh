# shellcheck shell=bash disable=SC2034 # for the scripts that source this
# The folders of a benchmark; sourced with BUILD and WORK, each of which may be empty:
#   $root    the source tree
#   $build   BUILD (default build/release), in which $kiln is the program
#   $work    WORK, or a new temporary folder that is removed at the end; it is the current folder afterwards
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
kiln=$build/kiln
work=${2:-}
if [[ -z $work ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
cd "$work"
work=$PWD
