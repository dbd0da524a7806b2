#!/usr/bin/env bash
# `kiln gc --registry`: of what kiln has pushed, what nobody needs goes, with all that hangs on it; what others have put there stays,
# and whatever is killed when, what stays can be pulled.
# shellcheck disable=SC2119 # what has options is asked without any
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
# shellcheck source=tests/support/registry_double.sh
. "$KILN_SOURCE/tests/support/registry_double.sh"
cp -r "$tiny" tiny
script=tiny/recipes/framework/hello/distro.sh
some=(version=2.10 library=fast compiler=none)
more=(version=2.10 compiler=none)
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem 2>/dev/null
site() { # site REGISTRY [ALIASES]
  echo "{\"pull\": {\"retries\": 1}, \"publish\": {\"registry\": \"$1\", \"key\": \"$work/key.pem\", \"aliases\": [${2:-}]}}" >site.json
}
publish() { expect 0 "$KILN" publish -f tiny/tiny.json "$@"; }
manifest_of() { # manifest_of PATTERN: in the current snapshot
  "$KILN" index list "$1" --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["manifest"])'
}
few=(--keep-for 0s --keep-steps-for 1d --keep-snapshots 1)
age() { find .kiln -exec touch -h -d '3 days ago' {} +; }
gc() { # gc STATUS [OPTION…]
  local wanted=$1
  shift
  age
  expect "$wanted" "$KILN" gc "${few[@]}" "$@"
}
kill_stalled_gc() { # as soon as a request of its hangs, as the faults say
  "$KILN" gc "${few[@]}" --registry --delete >/dev/null 2>&1 &
  local victim=$!
  wait_for_request stalled
  kill -9 "$victim"
  wait "$victim" 2>/dev/null || true
  faults
}
tag=2.10-distro-fast-x86_64-busybox1.35
there() { skopeo inspect --raw "docker://$place/$1" >/dev/null 2>&1; }

# 1. Debian's registry. A day, and the day after, with other bits of every image; an alias follows.
start_registry
place=$host/site/ai
site "$place" '{"name": "modak:fast", "images": ["*-fast-*"]}'
expect 0 "$KILN" build -f tiny/tiny.json "${more[@]}"
publish "${more[@]}"
holds "$out" '2 images pushed'
old=$(manifest_of '*-fast-*')
plain=$(manifest_of '2.10-distro-x86_64-*')
gc 0 --registry
lacks "$out" 'registry'
echo 'echo another day >/opt/kiln-day' >>"$script"
expect 0 "$KILN" build -f tiny/tiny.json "${more[@]}"
publish "${more[@]}"
new=$(manifest_of '*-fast-*')
[ "$old" != "$new" ] || fail 'the same bits'
# Somebody else's tag keeps one of the old ones; their own image is none of ours.
skopeo copy --quiet "docker://$place/hello@$plain" "docker://$place/hello:of-somebody"
skopeo copy --quiet "docker://$place/hello@$plain" "docker://$place/theirs:1"

gc 0 -v
holds "$err" "this state folder does not need 3 images of $place; \`kiln gc --registry\` lists them"
lacks "$out" registry
gc 0 --registry -v
holds "$out" "registry image"
holds "$out" "$place/hello@$old"
lacks "$out" "$place/hello@$plain"
holds "$err" "hello: 1 image without a use here stays: tags that stay name it"
there "hello@$old" || fail 'a dry run has taken something away'
gc 0 --registry --delete
for gone in "hello@$old" "hello:${old/:/-}" "hello:${old/:/-}.sig" "modak@$old" "modak:${old/:/-}.sig"; do
  ! there "$gone" || fail "$gone is still there"
done
for stays in "hello@$new" "hello:$tag" "hello:${new/:/-}" "hello:${new/:/-}.sig" "modak:fast" "hello@$plain" hello:of-somebody \
  "hello:${plain/:/-}" theirs:1; do
  there "$stays" || fail "$stays is gone"
done
equals "$(skopeo inspect --format '{{.Digest}}' "docker://$place/hello:$tag")" "$new"
rm -rf pulled
skopeo copy --quiet "docker://$place/modak:fast" oci:pulled:image
equals "$(skopeo inspect --format '{{.Digest}}' oci:pulled:image)" "$new"
publish "${more[@]}"
holds "$out" '2 unchanged, 0 tags moved'
# When the other's tag goes, so does the image; the registry's own collection then frees the blobs.
curl -fsS --cacert "$SSL_CERT_FILE" --config - -X DELETE "https://$host/v2/site/ai/theirs/manifests/$plain" <<<"user = \"$registry_name:$registry_password\""
rm -r registry/docker/registry/v2/repositories/site/ai/hello/_manifests/tags/of-somebody
gc 0 --registry --delete
! there "hello@$plain" || fail 'an image that nobody names is still there'
gc 0 --registry
lacks "$out" 'registry'
stop_registry
collect_registry >/dev/null 2>&1
start_registry
rm -rf pulled
skopeo copy --quiet "docker://$place/hello:$tag" oci:pulled:image
skopeo inspect --raw "docker://$place/hello:${new/:/-}" >/dev/null

# 2. Two names, one digest: an image that is withdrawn leaves the bits to the other.
copy=$place/hello:copy
skopeo copy --quiet "docker://$place/hello@$new" "docker://$copy"
echo "{\"tag\":\"$copy\",\"digest\":\"$new\"}" >>.kiln/pushed.jsonl # as if it had been ours
gc 0 --registry --delete
there "hello@$new" || fail 'the bits of another name are gone'
holds "$err" 'removes no tag alone: 1 tag stays'

# 3. What is wrong: no registry, one that refuses to delete, no snapshot. The state folder is collected all the same.
rm site.json
expect 2 "$KILN" gc --registry
holds "$err" 'the site file has no "publish" that says where'
expect 2 "$KILN" gc --registry "$place" --all
edit 's/enabled: true/enabled: false/' registry.yml
stop_registry
start_registry
site "$place"
echo 'echo a third day >/opt/kiln-day' >>"$script"
expect 0 "$KILN" build -f tiny/tiny.json "${more[@]}"
publish "${more[@]}"
gc 6 --registry --delete
holds "$err" "$host refuses to delete manifests (405)"
holds "$out" 'freed'
there "hello@$new" || fail 'it is gone all the same'
stop_registry
gc 6 --registry --delete # cannot be reached
cp -r .kiln none
rm -rf none/index.db none/store/records none/store/snapshots
expect 8 "$KILN" gc --registry "$place" --state none
holds "$err" 'there is no snapshot, so kiln cannot know what of'

# 4. Killed at each request of a collection, against the double, which has an API for referrers and takes tags away alone: what
# stays is whole, and the next run takes the rest.
rm -rf .kiln tiny.first
cp -r "$tiny" tiny.first
expect 0 "$KILN" build -f tiny.first/tiny.json "${some[@]}"
expect 0 "$KILN" build -f tiny/tiny.json "${some[@]}"
cp -a .kiln built
fill() { # two days in a registry, the first of which nobody needs
  rm -rf .kiln
  cp -a built .kiln
  start_double
  site "http://$double/ai"
  expect 0 "$KILN" publish -f tiny.first/tiny.json "${some[@]}"
  first=$(manifest_of '*')
  publish "${some[@]}"
  second=$(manifest_of '*')
  age
  forget_requests
}
ask() { # ask PATH: the status; what is there lies in answer
  curl -sS -o answer -w '%{http_code}' -H 'Accept: application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json' \
    "http://$double/v2/ai/hello/$1"
}
whole() { # the image that stays, by its tag and its digest, its signature, and all that goes with it
  for reference in "$second" "$tag"; do
    equals "$(ask "manifests/$reference")" 200
    equals "sha256:$(sha256sum <answer | cut -d ' ' -f 1)" "$second"
  done
  equals "$(ask "manifests/${second/:/-}.sig")" 200
  equals "$(ask "referrers/$second")" 200
  for referrer in $("$KILN_PYTHON" -c 'import json; print(*[one["digest"] for one in json.load(open("answer"))["manifests"]])'); do
    equals "$(ask "manifests/$referrer")" 200
  done
}
fill
expect 0 "$KILN" gc "${few[@]}" --registry --delete
holds "$out" 'registry image'
requests=$(wc -l <"$double_folder/requests")
whole
equals "$(ask "manifests/$first")" 404
equals "$(ask "referrers/$first")" 200
equals "$("$KILN_PYTHON" -c 'import json; print(len(json.load(open("answer"))["manifests"]))')" 0
left=$(ask tags/list; cat answer)
stop_double
[ "$requests" -ge 12 ] || fail "a collection of $requests requests"
for at in $(seq 0 $((requests - 1))); do
  fill
  faults "* . stall 1 $at"
  kill_stalled_gc
  whole
  expect 0 "$KILN" index fsck
  gc 0 --registry --delete
  whole
  equals "$(ask "manifests/$first")" 404
  equals "$(ask tags/list; cat answer)" "$left"
  gc 0 --registry
  lacks "$out" 'registry'
  stop_double
done

# 5. Whoever publishes bits again that are half gone pushes them again.
fill
faults 'DELETE manifests/sha256:.* stall 1 3'
kill_stalled_gc
holds "$(cat .kiln/pushed.jsonl)" '"going":true'
expect 0 "$KILN" build -f tiny.first/tiny.json "${some[@]}"
expect 0 "$KILN" publish -f tiny.first/tiny.json "${some[@]}"
holds "$out" '1 image pushed'
equals "$(manifest_of '*')" "$first"
second=$first
whole
echo "gc --registry: killed at each of $requests requests, and completed"
