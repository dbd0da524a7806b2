#!/usr/bin/env bash
# Publishing to a registry with an API for referrers, tokens and faults: the double of ours. What passes is tried again, what
# does not is told, and whatever is killed when, no row names what is not there and no tag what was not pushed.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/credentials.sh
. "$KILN_SOURCE/tests/support/credentials.sh"
own_home
# shellcheck source=tests/support/registry_double.sh
. "$KILN_SOURCE/tests/support/registry_double.sh"

some=(version=2.10 library=fast compiler=none)
cp -r "$tiny" tiny
expect 0 "$KILN" build -f tiny/tiny.json
echo '{"pull": {"retries": 2, "stall": "3s"}}' >site.json
publish() { # publish STATUS [OPTION…]: of a state that was built and never published
  local wanted=$1
  shift
  expect "$wanted" "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "http://$double/ai" "$@"
}
anew() {
  rm -rf .kiln/index.db .kiln/pushed.jsonl .kiln/store/snapshots .kiln/store/records .kiln/sif*
  forget_requests
  faults "$@"
}
rows() { "$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)))'; }

# 1. Tokens, and the API: no list is kept under a tag.
printf 'kiln:secret-of-the-double\n' >"$double_folder/users"
start_double --auth bearer --page 2
write_auth_file auth.json "$double" kiln secret-of-the-double
export REGISTRY_AUTH_FILE=$work/auth.json
anew
publish 0
holds "$out" '1 image pushed'
equals "$(asked 'PUT .*/manifests/sha256-')" 0
equals "$(asked 'anonymous' | head -1)" "$(asked ' 401 ')" # only what was refused
digest=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["manifest"])')

# 2. A night in which nothing changed: one request for the repository, one for the tag, and the logins that they need.
forget_requests
publish 0
holds "$out" '1 unchanged'
equals "$(asked '/v2/ai/hello/')" 3 # refused once, as whoever comes without a token
equals "$(asked 'tags/list.* 200')" 1

# An image that is new costs the others a look at their tags.
forget_requests
expect 0 "$KILN" publish -f tiny/tiny.json --to "http://$double/ai"
holds "$out" '1 unchanged'
tag=$("$KILN" index list '*-fast-*' --format json | "$KILN_PYTHON" -c '
import json, sys
print(*[one["tag"] for one in json.load(sys.stdin) if one["manifest"] == sys.argv[1]])' "$digest")
equals "$(asked "/manifests/($tag|$digest) ")" 1
stop_double

# 3. Blobs are sent once, and what is there is not sent again.
start_double
anew
expect 0 "$KILN" publish -f tiny/tiny.json --to "http://$double/ai"
sent=$(asked '^PUT .*digest=')
equals "$sent" "$(grep -E '^PUT .*digest=' "$double_folder/requests" | grep -oE 'digest=[^& ]*' | sort -u | wc -l)"
anew
expect 0 "$KILN" publish -f tiny/tiny.json --to "http://$double/ai"
equals "$(asked '^PUT .*digest=')" 0
stop_double

# 4. What passes is tried again; each ends well.
for fault in 'HEAD blobs 503 2' 'PUT manifests 429:1 1' 'PUT manifests 429:date+1 1' 'POST uploads 500 1' 'PUT digest= reset 1' \
  'PUT digest= lost 1' 'PUT manifests lost 1' 'PUT manifests html:502 1' 'GET manifests cut 1' 'POST uploads stall 1'; do
  start_double
  anew "$fault"
  publish 0
  equals "$(rows)" 1
  stop_double
done

# 5. What does not pass is told, and nothing is recorded.
tell() { # tell FAULT WORDS
  start_double
  anew "$1"
  publish 6
  holds "$err" "$2"
  equals "$(rows)" 0
  stop_double
}
tell '* . 403' '403'
tell 'PUT manifests 403' '403 DENIED'
tell 'POST uploads full' 'the registry has no space left'
tell 'POST uploads 507' 'the registry has no space left'
tell 'HEAD blobs 503' 'tried 3 times'
tell 'PUT manifests 429:100000' 'it asks kiln to wait 100000 s'
tell 'GET manifests/sha256:.* corrupt' 'asked for the manifest'
tell 'PUT digest= forget' 'the registry accepts blobs and does not return them'
tell 'PUT manifests forget' 'the registry took'
tell 'POST uploads 404' '404'

# 6. Killed at each request of a publication: no row without its manifest, and the next run completes it.
start_double
anew
publish 0
requests=$(wc -l <"$double_folder/requests")
stop_double
for at in $(seq 0 $((requests - 1))); do
  start_double
  anew "* . stall 1 $at"
  "$KILN" publish -f tiny/tiny.json "${some[@]}" --to "http://$double/ai" >/dev/null 2>&1 &
  victim=$!
  wait_for_request stalled
  kill -9 "$victim"
  wait "$victim" 2>/dev/null || true
  faults
  now=$(rows)
  if [ "$now" = 1 ]; then # committed: so its manifest is there, whole
    curl -fsS -H 'Accept: application/vnd.oci.image.manifest.v1+json' "http://$double/v2/ai/hello/manifests/$digest" >manifest.json ||
      fail "killed at request $at: a row without its manifest"
    equals "sha256:$(sha256sum <manifest.json | cut -d ' ' -f 1)" "$digest"
  fi
  publish 0
  equals "$(rows)" 1
  tag=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["tag"])')
  curl -fsSI -H 'Accept: application/vnd.oci.image.manifest.v1+json' "http://$double/v2/ai/hello/manifests/$tag" | tr -d '\r' >head.txt
  equals "$(sed -n 's/^docker-content-digest: //Ip' head.txt)" "$digest"
  publish 0
  holds "$out" '1 unchanged, 0 tags moved'
  stop_double
done

# 7. The secret stands nowhere.
secret=$(printf 'kiln:secret-of-the-double' | base64 -w 0)
! grep -raqF -e secret-of-the-double -e "$secret" .kiln || fail 'the password is in the state folder'
echo "publish: killed at each of $requests requests, and completed"
