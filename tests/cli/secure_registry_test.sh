#!/usr/bin/env bash
# What tests push to as a site would (tests/support/secure_registry.sh): Debian's registry lets in by name and password over TLS only,
# keeps what it acknowledged through a kill, and deletes by digest.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
for tool in skopeo openssl perl; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool here"; exit 77; }
done
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
start_registry

image=$("$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/attached_layout.py" layout)
app=docker://$host/site/app
skopeo copy --quiet --preserve-digests oci:layout:image "$app:1"
kill_registry
expect 1 skopeo inspect "$app:1"
start_registry
equals "$(skopeo inspect --format '{{.Digest}}' "$app:1")" "$image"

expect 1 env -u REGISTRY_AUTH_FILE skopeo inspect "$app:1"
holds "$err" 'authentication required'
expect 1 env -u SSL_CERT_FILE skopeo inspect "$app:1"
holds "$err" 'certificate'
expect 0 env -u SSL_CERT_FILE skopeo inspect --cert-dir "$certificates" "$app:1"
write_auth_file other.json "$host" "$registry_name" another
expect 1 env REGISTRY_AUTH_FILE="$work/other.json" skopeo inspect "$app:1"

skopeo delete "$app:1"
expect 1 skopeo inspect "$app:1"
stop_registry
expect 0 collect_registry
holds "$out" '3 blobs and 0 manifests eligible for deletion'
[ -z "$(find registry -name "${image#sha256:}" -path '*/blobs/*')" ] || fail 'the manifest is still on the disk'
