#!/usr/bin/env bash
# Documents beside an image in a real registry that has no API for referrers: kiln finds them by the tag that stands for them.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
command -v skopeo >/dev/null || { echo 'SKIPPED: no skopeo here'; exit 77; }
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
start_registry

push() { skopeo --registries-conf registries.conf copy --quiet "$@"; }
digest=$("$KILN_PYTHON" "$KILN_SOURCE/tests/support/attached_layout.py" layout other spdx provenance)
push oci:layout:image "docker://$host/theirs:1"
expect 4 "$KILN" inspect "docker://$host/theirs:1" --provenance
holds "$err" "there are no referrers of $digest in docker://$host/theirs:1"
holds "$err" 'does not ask a registry'

push --all "oci:layout:${digest/:/-}" "docker://$host/theirs:${digest/:/-}"
expect 0 "$KILN" inspect "docker://$host/theirs:1" --provenance
equals "$(json 'it["predicateType"]')" https://slsa.dev/provenance/v1
expect 0 "$KILN" inspect "docker://$host/theirs@$digest" --sbom spdx
equals "$(json 'it["name"]')" theirs
expect 0 "$KILN" inspect "docker://$host/theirs:1" --sbom cyclonedx
equals "$(json 'it["bomFormat"]')" CycloneDX
echo 'referrers: found in a registry by their tag'
