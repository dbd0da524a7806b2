#!/usr/bin/env bash
# Kills by seed: kill_loop.sh FOLDER [KILLS [SEED]]. Builds, conversions and pulls, with the real buildah and a real
# registry, are killed at random moments; kill_loop.py says what must be and prints the figures.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
start_registry

cp -r "$tiny" tiny
expect 0 "$KILN" build -f tiny/tiny.json --state whole
expect 0 "$KILN" publish -f tiny/tiny.json --state whole
layout=$(echo whole/images/hello/2.1-*fast*) # <tag>-<key>
skopeo --registries-conf registries.conf copy --quiet "oci:$layout:$(basename "${layout%-*}")" "docker://$host/hello:1"
mkdir temporary sifs
TMPDIR=$work/temporary "$KILN_PYTHON" "$KILN_SOURCE/tests/engines/kill_loop.py" "$KILN" "docker://$host/hello:1" "${2:-1000}" "${3:-1}"
