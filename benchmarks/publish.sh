#!/usr/bin/env bash
# Publishing a catalogue of 600 images to Debian's docker-registry: samples on stdout, a line of JSON each (ci/bench).
#
#   benchmarks/publish.sh [BUILD [WORK]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); WORK: where the catalogue, its state folder and
# the registry are made (default a new temporary folder, removed at the end). `requests` are those that the registry was asked,
# `repositories` those that the images are in. docs/performance.md says what each series means.
set -euo pipefail

# shellcheck source=benchmarks/folders.sh
. "$(dirname "${BASH_SOURCE[0]}")/folders.sh" "${1:-}" "${2:-}"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >registry.yml <<YML
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "127.0.0.1:$port"}
YML
rm -rf registry
docker-registry serve registry.yml >requests 2>registry.log &
registry=$!
trap 'kill "$registry"; [[ -n ${2:-} ]] || rm -rf "$work"' EXIT
until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null; do sleep 0.1; done

python3 "$root/benchmarks/catalogue.py" catalogue 1000
rm -rf state
"$build/benchmarks/mark_built" catalogue state >/dev/null
some=(-f catalogue/matrix/bench.json --state state framework={framework0,framework1,framework2,framework3,framework4,framework5})
publish=("$kiln" publish "${some[@]}" --to "http://127.0.0.1:$port/bench")

measure() { # measure SERIES COMMAND…: a run, and the requests of it
  local before
  before=$(wc -l <requests)
  python3 "$root/benchmarks/measure.py" "$1" 1 "${@:2}"
  printf '{"series": "%s", "requests": %s}\n' "$1" "$(($(wc -l <requests) - before))"
}
measure publish_600 "${publish[@]}"
printf '{"series": "published", "tags": %s, "repositories": %s}\n' \
  "$(find registry -path '*/_manifests/tags/*' -name index 2>/dev/null | wc -l)" "$(find registry -name _manifests 2>/dev/null | wc -l)"
for _ in 1 2 3 4 5; do
  measure publish_600_again "${publish[@]}"
  measure publish_600_locally "$kiln" publish "${some[@]}" --local
done
