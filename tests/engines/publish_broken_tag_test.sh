#!/usr/bin/env bash
# Debian's registry, killed while it wrote a tag or a blob, leaves its link empty and answers 500 for it for ever: publishing writes it again.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
start_registry
place=$host/site/ai
cp -r "$tiny" tiny
some=(version=2.10 library=fast compiler=none)
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem 2>/dev/null
echo "{\"pull\": {\"retries\": 1}, \"publish\": {\"registry\": \"$place\", \"key\": \"$work/key.pem\"}}" >site.json
publish() { expect 0 "$KILN" publish -f tiny/tiny.json "${some[@]}"; }
expect 0 "$KILN" build -f tiny/tiny.json "${some[@]}"
publish
digest=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["manifest"])')
tags=registry/docker/registry/v2/repositories/site/ai/hello/_manifests/tags

# Each tag by itself: the readable one, the immutable one, the list of referrers, the signatures.
count=0
for link in "$tags"/*/current/link; do
  tag=$(basename "$(dirname "$(dirname "$link")")")
  cp "$link" "$work/link"
  : >"$link"
  ! skopeo inspect --raw "docker://$place/hello:$tag" >/dev/null 2>&1 || fail "$tag can be read"
  rm .kiln/pushed.jsonl # the registry was killed before it answered, so nobody remembers
  publish
  holds "$err" "$place/hello:$tag: the registry has the tag, and cannot read it: 500"
  skopeo inspect --raw "docker://$place/hello:$tag" >/dev/null || fail "$tag is still broken"
  case $tag in
    *.sig) ;; # another signature each time
    *) cmp "$link" "$work/link" || fail "$tag names something else" ;;
  esac
  count=$((count + 1))
done
equals "$count" 4
equals "$(skopeo inspect --format '{{.Digest}}' "docker://$place/hello@$digest")" "$digest"

# All blobs of the repository at once: HEAD answers 500, and a manifest that names one is refused.
layers=${tags%/_manifests/tags}/_layers
blobs=0
for link in "$layers"/sha256/*/link; do
  : >"$link"
  blobs=$((blobs + 1))
done
rm .kiln/pushed.jsonl
publish
for link in "$layers"/sha256/*/link; do
  # Of an older signature, which no tag names any more, nothing is sent.
  [ -s "$link" ] || blobs=$((blobs - 1))
done
skopeo copy -q "docker://$place/hello@$digest" "oci:$work/whole" || fail 'its blobs are still broken'
[ "$blobs" -gt 4 ] || fail "only $blobs blobs were sent again"

# A tag that somebody else's kill has broken is nobody's: --take-tags is not needed. One that can be read is left as before.
publish
holds "$out" '1 unchanged, 0 tags moved'
echo "broken links: $count tags and $blobs blobs mended"
