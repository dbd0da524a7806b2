#!/usr/bin/env bash
# Figures of publishing a catalogue of 600 images to Debian's docker-registry: one JSON line each on stdout.
#
#   tests/bench/publish.sh [BUILD [WORK]]
#
# BUILD: a build folder in which `ninja bench` has run (default build/release); WORK: where the catalogue, its state folder and
# the registry are made (default a new temporary folder, removed at the end). `requests` are those that the registry was asked,
# `repositories` those that the images are in. docs/performance.md says what each figure means.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
kiln=$build/kiln
work=${2:-}
if [[ -z $work ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
cd "$work"

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

python3 "$root/tests/bench/catalogue.py" catalogue 1000
rm -rf state
"$build/tests/bench/mark_built" catalogue state >/dev/null
some=(-f catalogue/matrix/bench.json --state state framework={framework0,framework1,framework2,framework3,framework4,framework5})
publish=("$kiln" publish "${some[@]}" --to "http://127.0.0.1:$port/bench")

figure() { # figure NAME RUNS COMMAND…: with the requests of one run
  local before after measured
  before=$(wc -l <requests)
  measured=$(python3 "$root/tests/bench/measure.py" "${@:2}")
  after=$(wc -l <requests)
  python3 -c '
import json, sys
name, runs, requests, tags, repositories, measured = sys.argv[1:]
print(json.dumps({"figure": name, **json.loads(measured), "requests": int(requests) // int(runs), "tags": int(tags),
                  "repositories": int(repositories)}))' "$1" "$2" "$((after - before))" \
    "$(find registry -path '*/_manifests/tags/*' -name index 2>/dev/null | wc -l)" \
    "$(find registry -name _manifests 2>/dev/null | wc -l)" "$measured"
}
figure publish_600 1 "${publish[@]}"
figure publish_600_again 5 "${publish[@]}"
figure publish_600_locally 5 "$kiln" publish "${some[@]}" --local
figure version 5 "$kiln" --version
