#!/usr/bin/env bash
# The judge of kiln's signatures, judged without kiln: at Debian's registry with TLS and a password, Debian 13's skopeo must take
# what it has signed itself, and refuse what is unsigned, signed by somebody else, for another image, or for another repository.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
# shellcheck source=tests/support/signed_policy.sh
. "$KILN_SOURCE/tests/support/signed_policy.sh"
start_registry
digest=$("$KILN_PYTHON" "$KILN_SOURCE/tests/support/attached_layout.py" layout)
equals "$digest" "$(skopeo inspect --format '{{.Digest}}' oci:layout:image)"
umoci config --image layout:image --tag another --config.user nobody

# Keys as skopeo and cosign have them. Readers of this form know three costs of scrypt, older ones the first alone (32768).
make_key() {
  echo "$1-passphrase" >"$1.passphrase"
  expect 0 judge generate-sigstore-key --output-prefix "$1" --passphrase-file "$1.passphrase"
  equals "$(sed '1d; $d' "$1.private" | base64 -d |
    "$KILN_PYTHON" -c 'import json, sys; kdf = json.load(sys.stdin)["kdf"]; print(kdf["name"], kdf["params"])')" "scrypt {'N': 65536, 'r': 8, 'p': 1}"
}
# sign KEY REFERENCE: pushed, and signed with KEY.
sign() {
  expect 0 judge copy --quiet --preserve-digests --sign-by-sigstore-private-key "$1.private" \
    --sign-passphrase-file "$1.passphrase" oci:layout:image "docker://$2"
}
mkdir keys
make_key keys/site
make_key keys/foreign
demand_signature "$host" keys/site.pub

# 1. Unsigned: refused by any name. The same image from a host that the policy does not name: that one, too.
skopeo copy --quiet oci:layout:image "docker://$host/site/unsigned:1"
refuses "$host/site/unsigned:1" "$unsigned"
refuses "$host/site/unsigned@$digest" "$unsigned"
write_auth_file elsewhere.json "localhost:$port" "$registry_name" "$registry_password"
refuses "localhost:$port/site/unsigned:1" 'rejected by policy' --authfile elsewhere.json

# 2. Signed by the site: taken by its tag, by its digest, and by a tag that it was given later.
sign keys/site "$host/site/signed:1"
copies "$host/site/signed:1"
equals "sha256:$(sha256sum <"$judged/manifest.json" | cut -d ' ' -f 1)" "$digest"
copies "$host/site/signed@$digest"
skopeo copy --quiet "docker://$host/site/signed:1" "docker://$host/site/signed:latest"
copies "$host/site/signed:latest"

# 3. Signed by a key of somebody else: refused, until this key signs as well.
sign keys/foreign "$host/site/foreign:1"
refuses "$host/site/foreign:1" "$foreign"
sign keys/site "$host/site/foreign:1"
copies "$host/site/foreign:1"
demand_signature "$host" keys/foreign.pub
copies "$host/site/foreign:1"
refuses "$host/site/signed:1" "$foreign"
demand_signature "$host" keys/site.pub

# 4. A signature that is good, where it does not belong: of another repository, and of another image.
signature=${digest/:/-}.sig
skopeo copy --quiet "docker://$host/site/signed:$signature" "docker://$host/site/unsigned:$signature"
refuses "$host/site/unsigned:1" 'is not accepted'
skopeo copy --quiet oci:layout:another "docker://$host/site/signed:2"
another=$(skopeo inspect --format '{{.Digest}}' "docker://$host/site/signed:2")
refuses "$host/site/signed:2" "$unsigned"
skopeo copy --quiet "docker://$host/site/signed:$signature" "docker://$host/site/signed:${another/:/-}.sig"
refuses "$host/site/signed:2" 'does not match'
echo 'the judge takes what the site has signed, and nothing else'
