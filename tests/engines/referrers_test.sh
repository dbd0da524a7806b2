#!/usr/bin/env bash
# Documents beside an image in a real registry that has no API for referrers: kiln finds them by the tag that stands for them.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
for tool in docker-registry skopeo; do
  command -v "$tool" >/dev/null || exit 77
done

port=$("$KILN_PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
host=127.0.0.1:$port
cat >registry.yml <<YML
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "$host"}
YML
printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "$host" >registries.conf
export CONTAINERS_REGISTRIES_CONF=$work/registries.conf
docker-registry serve registry.yml >registry.log 2>&1 &
registry=$!
trap 'kill "$registry"; unmount_all' EXIT
for _ in $(seq 100); do
  "$KILN_PYTHON" -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null && break
  sleep 0.1
done

push() { skopeo --registries-conf registries.conf copy --quiet "$@"; }
digest=$("$KILN_PYTHON" "$KILN_SOURCE/tests/support/attached_layout.py" layout other spdx provenance)
push oci:layout:image "docker://$host/theirs:1"
expect 4 "$KILN" inspect "docker://$host/theirs:1" --provenance
holds "$err" "there are no referrers of $digest in docker://$host/theirs:1"
holds "$err" 'API is not asked'

push --all "oci:layout:${digest/:/-}" "docker://$host/theirs:${digest/:/-}"
expect 0 "$KILN" inspect "docker://$host/theirs:1" --provenance
equals "$(json 'it["predicateType"]')" https://slsa.dev/provenance/v1
expect 0 "$KILN" inspect "docker://$host/theirs@$digest" --sbom spdx
equals "$(json 'it["name"]')" theirs
expect 0 "$KILN" inspect "docker://$host/theirs:1" --sbom cyclonedx
equals "$(json 'it["bomFormat"]')" CycloneDX
echo 'referrers: found in a registry by their tag'
