#!/usr/bin/env bash
# Choices in process, as the library and the server make them: samples on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/ask.sh [BUILD [IMAGES [WORK]]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); IMAGES: how many built images are in the index
# (default 100000), of ten applications; WORK: where the index is made (default a new temporary folder, removed at the end).
set -euo pipefail

# shellcheck source=benchmarks/folders.sh
. "$(dirname "${BASH_SOURCE[0]}")/folders.sh" "${1:-}" "${3:-}"
bench=$build/benchmarks/index_bench
images=${2:-100000}

"$bench" fill built $((images / 5000)) >/dev/null
for _ in 1 2 3 4 5; do
  printf '{"series": "ask", %s\n' "$("$bench" ask built 100000 | cut -c 2-)"
done
