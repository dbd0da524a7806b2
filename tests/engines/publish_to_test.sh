#!/usr/bin/env bash
# Publishing to Debian's registry with TLS and a password: what is sent, what is answered, and that the answer is what another
# machine pulls and runs.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/second_machine.sh
. "$KILN_SOURCE/tests/support/second_machine.sh"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
# shellcheck source=tests/support/signed_policy.sh
. "$KILN_SOURCE/tests/support/signed_policy.sh"
start_registry
place=$host/site/ai

cp -r "$tiny" tiny
some=(version=2.10 library=fast compiler=none)
cat >ask.json <<'J'
{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"},
 "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "2.10"}}}}
J
expect 0 "$KILN" build -f tiny/tiny.json "${some[@]}"

# 1. Who may not, is told so, and nothing is published.
REGISTRY_AUTH_FILE=$work/none expect 6 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place"
holds "$err" "$host asks for a login, and no file has one for it; log in: \`skopeo login $host\`"
write_auth_file wrong.json "$host" kiln another-secret
REGISTRY_AUTH_FILE=$work/wrong.json expect 6 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place"
holds "$err" '401 Unauthorized; log in'
SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt expect 6 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place"
holds "$err" 'certificate'
expect 2 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to 'Not A/Registry'
expect 0 "$KILN" index list --format json
equals "$(json 'it')" '[]'

# 2. Pushed, then recorded, then named.
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place"
holds "$out" 'snapshot 1: 1 published, 0 not built'
holds "$out" "$place: 1 image pushed ("
holds "$out" '0 unchanged, 1 tag moved'
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place"
holds "$out" 'snapshot 1: nothing new'
holds "$out" '0 images pushed (0 blobs, 0.0 MB), 1 unchanged, 0 tags moved'

# 3. What was pushed is the answer.
expect 0 "$KILN" select --dsl ask.json
by_tag=$out
holds "$by_tag" "docker://$place/hello:2.10-"
expect 0 "$KILN" select --dsl ask.json --format digest
by_digest=$out
holds "$by_digest" "docker://$place/hello@sha256:"
expect 0 "$KILN" select --dsl ask.json --format sif
[ -e "$out" ] || fail "no SIF file: $out"
# A publication that goes nowhere else takes nothing away.
expect 0 "$KILN" publish -f tiny/tiny.json
expect 0 "$KILN" select --dsl ask.json
equals "$out" "$by_tag"

# 4. On a machine that has the index alone, and reaches the registry and nothing else.
mkdir -p second/.kiln
cp .kiln/index.db second/.kiln/
if [ ${#second_network[@]} -gt 0 ]; then
  second skopeo inspect --raw "$by_tag" >/dev/null || fail 'the second machine does not reach the registry'
  ! second "$KILN_PYTHON" -c "import socket; socket.create_connection(('127.0.0.1', $port), 2)" 2>/dev/null || fail 'it is this machine'
fi
ask_other() { expect 0 second "$KILN" select --dsl "$work/ask.json" "$@"; }
ask_other
equals "$out" "$by_tag"
ask_other --format digest
equals "$out" "$by_digest"
ask_other --format sif
by_sif=$out
holds "$by_sif" "oras://$place/hello@sha256:"
for name in "$by_tag" "$by_digest"; do
  rm -rf second/pulled
  second skopeo copy --quiet "$name" oci:pulled:image || fail "skopeo does not pull $name"
  equals "$(second skopeo inspect --format '{{.Digest}}' oci:pulled:image)" "${by_digest##*@}"
done
"$KILN_SOURCE/ci/apptainer" install
share=$(mktemp -d /tmp/kiln-publish.XXXXXX) # Apptainer runs as another user
at_exit "rm -rf $share"
cp "$SSL_CERT_FILE" "$share/ca.crt"
cp "$REGISTRY_AUTH_FILE" "$share/auth.json"
chmod -R a+rX "$share" && chmod a+rwx "$share"
SSL_CERT_FILE=$share/ca.crt second "$KILN_SOURCE/ci/apptainer" run pull --authfile "$share/auth.json" "$share/image.sif" "$by_sif" >apptainer.log 2>&1 ||
  { cat apptainer.log && fail "apptainer does not pull $by_sif"; }
holds "$(second "$KILN_SOURCE/ci/apptainer" run exec "$share/image.sif" /opt/kiln/hello/bin/hello 2>/dev/null)" 'hello 2.10'

# 5. Documents are referrers, by the tag that stands for them where there is no API.
for kind in provenance 'sbom spdx' evidence; do
  # shellcheck disable=SC2086 # a word more for some
  expect 0 "$KILN" inspect "$by_digest" --${kind}
done

# 6. What somebody else has moved is left; --take-tags moves it.
"$KILN_PYTHON" "$KILN_SOURCE/tests/support/attached_layout.py" layout other spdx >/dev/null
skopeo copy --quiet oci:layout:image "$by_tag"
rm .kiln/pushed.jsonl
expect 7 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place"
holds "$out" 'left '
holds "$out" 'and kiln has never moved it'
holds "$err" 'a tag was moved by another program'
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place" --take-tags
holds "$out" '1 tag moved'
equals "$(skopeo inspect --format '{{.Digest}}' "$by_tag")" "${by_digest##*@}"

# 7. A tag of the night after: ours moves by itself, an immutable one never.
immutable=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["immutable_tag"])')
skopeo copy --quiet oci:layout:image "docker://$place/hello:$immutable"
rm .kiln/pushed.jsonl
expect 7 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$place"
holds "$err" 'such a tag never moves'

# 8. Signed: the claim is of these bits, and the key's; once, whoever asks again.
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:of-the-key -out key.pem 2>/dev/null
openssl pkey -in key.pem -passin pass:of-the-key -pubout -out key.pub
echo of-the-key >passphrase
"$KILN" index list >/dev/null
digest=${by_digest##*@}
sign=(--to "$host/signed" --sign-key key.pem --sign-passphrase-file passphrase)
expect 3 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$host/signed" --sign-key key.pem
holds "$err" 'the key cannot be opened with this passphrase'
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" "${sign[@]}"
skopeo inspect --raw "docker://$host/signed/hello:${digest/:/-}.sig" >signatures.json
"$KILN_PYTHON" - <<'PY'
import base64, json
layer, = json.load(open("signatures.json"))["layers"]
open("signature", "wb").write(base64.b64decode(layer["annotations"]["dev.cosignproject.cosign/signature"]))
open("claim.digest", "w").write(layer["digest"])
PY
curl -fsS --cacert "$SSL_CERT_FILE" --config - -o claim "https://$host/v2/signed/hello/blobs/$(cat claim.digest)" <<<"user = \"$registry_name:$registry_password\""
openssl dgst -sha256 -verify key.pub -signature signature claim >/dev/null || fail 'the signature is not good'
out=$(cat claim)
equals "$(json 'it["critical"]["image"]["docker-manifest-digest"]')" "$digest"
holds "$(json 'it["critical"]["identity"]["docker-reference"]')" "$host/signed/hello:"
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" "${sign[@]}"
holds "$out" '1 unchanged'
rm .kiln/pushed.jsonl
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" "${sign[@]}" # looked for again, and not signed again
skopeo inspect --raw "docker://$host/signed/hello:${digest/:/-}.sig" | cmp - signatures.json

# 9. skopeo takes what the site's key has signed, whatever names it, and nothing else.
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out foreign.pem 2>/dev/null
openssl pkey -in foreign.pem -pubout -out foreign.pub
tag=${by_tag##*:}
demand_signature "$host" key.pub
copies "$host/signed/hello@$digest"
copies "$host/signed/hello:$tag"
refuses "${by_digest#docker://}" "$unsigned" # the same bits, where nobody has signed them
demand_signature "$host" foreign.pub
refuses "$host/signed/hello:$tag" "$foreign"
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$host/signed" --sign-key foreign.pem
copies "$host/signed/hello:$tag"
demand_signature "$host" key.pub # theirs is there still
copies "$host/signed/hello:$tag"

# 10. The site's registry and key; the command line goes before them.
echo "{\"publish\": {\"registry\": \"$host/of-the-site\", \"key\": \"$work/key.pem\", \"passphrase_file\": \"$work/passphrase\"}}" >site.json
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" --local
lacks "$out" "$host"
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}"
holds "$out" "$host/of-the-site: 1 image pushed"
demand_signature "$host" key.pub
copies "$host/of-the-site/hello:$tag"
expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$host/signed"
holds "$out" "$host/signed: 1 image pushed (0 blobs" # signed by the site, too
expect 2 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$host/signed" --local
expect 2 "$KILN" publish -f tiny/tiny.json "${some[@]}" --local --take-tags
holds "$err" '--local and --take-tags do not go together'
echo '{"publish": {"registry": "Not A/Registry"}}' >site.json
expect 3 "$KILN" publish -f tiny/tiny.json "${some[@]}"
holds "$err" "site.json: error: 'Not A/Registry' is no registry: 'Not A' is no host (at /publish/registry)"
rm site.json
expect 2 "$KILN" publish -f tiny/tiny.json "${some[@]}" --take-tags
holds "$err" '--take-tags goes with --to'

# 11. The secret stands nowhere.
secret=$(printf '%s:%s' "$registry_name" "$registry_password" | base64 -w 0)
! grep -raqF -e "$registry_password" -e "$secret" .kiln second || fail 'the password is in the state folder'

# 11. Bits that rotted here are told as what they are, and go nowhere.
layer=$(find .kiln/store/sha256 -type f -printf '%s %p\n' | sort -n | awk '{ f[NR] = $2 } END { print f[NR - 1] }') # the SIF is larger
"$KILN_PYTHON" - "$layer" <<'PY'
import os, sys
os.chmod(sys.argv[1], 0o644)
with open(sys.argv[1], "r+b") as blob:
    blob.seek(os.path.getsize(sys.argv[1]) // 2)
    byte = blob.read(1)[0]
    blob.seek(-1, os.SEEK_CUR)
    blob.write(bytes([byte ^ 1]))
PY
expect 8 "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "$host/damaged"
holds "$err" "does not have the bytes that were written"
expect 0 "$KILN" select --dsl ask.json
holds "$out" "docker://$host/signed/hello:" # the last place that has it whole
echo "publish --to: $by_tag is what skopeo pulls and Apptainer runs"
