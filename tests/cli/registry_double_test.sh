#!/usr/bin/env bash
# The registry that other tests push to (tests/support/registry_double.py), asked by skopeo and by curl: each request of the
# specification's table, what it refuses, names and passwords and tokens, and that each fault is the one that it says.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
for tool in skopeo curl openssl; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool here"; exit 77; }
done
# shellcheck source=tests/support/credentials.sh
. "$KILN_SOURCE/tests/support/credentials.sh"
# shellcheck source=tests/support/registry_double.sh
. "$KILN_SOURCE/tests/support/registry_double.sh"
own_home

image=$("$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/attached_layout.py" layout spdx provenance other)
manifest_type=application/vnd.oci.image.manifest.v1+json
index_type=application/vnd.oci.image.index.v1+json
blob_file() { echo "layout/blobs/sha256/${1#sha256:}"; }
layer=$("$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["layers"][0]["digest"])' <"$(blob_file "$image")")

site=
# ask METHOD TARGET [OPTION…]: the status in $status, what was said in the files `headers` and `body`.
ask() {
  local method=$1 target=$2
  shift 2
  case $target in http*) ;; *) target=$site$target ;; esac
  [ "$method" != HEAD ] || set -- --head "$@"
  status=$(curl --silent --max-time 60 --request "$method" --dump-header headers --output body --write-out '%{http_code}' "$@" "$target") ||
    status="curl $?"
}
# wants STATUS METHOD TARGET [OPTION…]: the same, and the status has to be that.
wants() {
  local wanted=$1
  shift
  ask "$@"
  [ "$status" = "$wanted" ] || fail "$* was answered with $status, not $wanted: $(cat headers body)"
}
header() { tr -d '\r' <headers | sed -n "s/^$1: //Ip"; }
bytes=(-H 'Content-Type: application/octet-stream')
put_manifest() { wants "$1" PUT "$2" -H "Content-Type: $manifest_type" --data-binary "@$3" "${@:4}"; }
push_blob() { wants 201 POST "/v2/$1/blobs/uploads/?digest=$2" "${bytes[@]}" --data-binary "@$(blob_file "$2")"; }
body() { "$KILN_PYTHON" -c "import json; it = json.load(open('body')); print($1)"; }

# --- without a password
mkdir -p "$double_folder"
start_double --page 2
site=http://$double
skopeo copy --quiet --preserve-digests --dest-tls-verify=false oci:layout:image "docker://$double/site/app:1"
skopeo copy --quiet --preserve-digests --src-tls-verify=false "docker://$double/site/app:1" oci:back:image
equals "$(skopeo inspect --format '{{.Digest}}' oci:back:image)" "$image"
equals "$(skopeo inspect --tls-verify=false --format '{{.Digest}}' "docker://$double/site/app@$image")" "$image"
equals "$(asked '^PUT /v2/site/app/manifests/1 201 anonymous$')" 1
equals "$(asked '^POST /v2/site/app/blobs/uploads/ 202 anonymous$')" 2
skopeo copy --quiet --all --preserve-digests --src-tls-verify=false --dest-tls-verify=false "docker://$double/site/app:1" "docker://$double/site/copied:1"

# end-1 to end-3, and HEAD says what GET says.
wants 200 GET /v2/
wants 200 HEAD /v2/site/app/manifests/1
equals "$(header Docker-Content-Digest) $(header Content-Length)" "$image $(wc -c <"$(blob_file "$image")")"
wants 200 GET "/v2/site/app/manifests/$image" -H "Accept: $index_type, $manifest_type"
cmp body "$(blob_file "$image")"
wants 404 GET "/v2/site/app/manifests/$image" -H "Accept: $index_type"
wants 304 GET "/v2/site/app/manifests/1" -H "If-None-Match: \"$image\""
wants 206 GET "/v2/site/app/blobs/$layer" -H 'Range: bytes=2-4'
equals "$(wc -c <body) $(header Content-Range)" "3 bytes 2-4/$(wc -c <"$(blob_file "$layer")")"
wants 416 GET "/v2/site/app/blobs/$layer" -H 'Range: bytes=9999-'
wants 404 GET "/v2/site/app/blobs/$image"
wants 400 GET /v2/site/app/blobs/sha256:12
wants 404 GET /v2/site/none/tags/list
equals "$(body 'it["errors"][0]["code"]')" NAME_UNKNOWN
wants 400 GET /v2/Site/app/tags/list
equals "$(body 'it["errors"][0]["code"]')" NAME_INVALID

# end-4a, end-6: the Location is absolute, on another path, and has a query that counts.
wants 202 POST /v2/site/two/blobs/uploads/
there=$(header Location)
case $there in "$site/uploads-of/site/two/"*'?state='*) ;; *) fail "an upload goes to $there" ;; esac
wants 404 PUT "${there%%\?*}?digest=$layer" "${bytes[@]}" --data-binary "@$(blob_file "$layer")"
wants 415 PUT "$there&digest=$layer" --data-binary "@$(blob_file "$layer")"
wants 411 PUT "$there&digest=$layer" "${bytes[@]}" -H 'Transfer-Encoding: chunked' --data-binary "@$(blob_file "$layer")"
wants 400 PUT "$there" "${bytes[@]}" --data-binary "@$(blob_file "$layer")"
wants 201 PUT "$there&digest=$layer" "${bytes[@]}" --data-binary "@$(blob_file "$layer")"
equals "$(header Location)" "$site/v2/site/two/blobs/$layer"
wants 404 PUT "$there&digest=$layer" "${bytes[@]}" --data-binary "@$(blob_file "$layer")"
wants 202 POST /v2/site/two/blobs/uploads/
wants 400 PUT "$(header Location)&digest=$image" "${bytes[@]}" --data-binary "@$(blob_file "$layer")"
equals "$(body 'it["errors"][0]["code"]')" DIGEST_INVALID
# end-5, end-13: chunks, in their order.
printf 'hello, ' >first
printf world >second
hello=sha256:$(cat first second | sha256sum | cut -d' ' -f1)
wants 202 POST /v2/site/two/blobs/uploads/ -H 'Content-Length: 0'
there=$(header Location)
wants 202 PATCH "$there" "${bytes[@]}" -H 'Content-Range: 0-6' --data-binary @first
equals "$(header Range)" 0-6
wants 416 PATCH "$there" "${bytes[@]}" -H 'Content-Range: 9-13' --data-binary @second
wants 400 PATCH "$there" "${bytes[@]}" -H 'Content-Range: 7-30' --data-binary @second
wants 204 GET "$there"
equals "$(header Range)" 0-6
wants 201 PUT "$there&digest=$hello" "${bytes[@]}" -H 'Content-Range: 7-11' --data-binary @second
wants 200 GET "/v2/site/two/blobs/$hello"
equals "$(cat body)" 'hello, world'
# end-11: a mount, one that cannot be (an upload begins), and one that the registry does not do.
wants 201 POST "/v2/site/three/blobs/uploads/?mount=$hello&from=site/two"
wants 200 HEAD "/v2/site/three/blobs/$hello"
wants 202 POST "/v2/site/three/blobs/uploads/?mount=$layer&from=site/none"
wants 201 PUT "$(header Location)&digest=$layer" "${bytes[@]}" --data-binary "@$(blob_file "$layer")"
faults 'POST mount= session'
wants 202 POST "/v2/site/four/blobs/uploads/?mount=$hello&from=site/two"
faults 'POST digest= session'
wants 202 POST "/v2/site/four/blobs/uploads/?digest=$hello" "${bytes[@]}" --data-binary @first
faults

# end-7: what a manifest names has to be there, and the type is the one that it says.
put_manifest 400 /v2/site/five/manifests/1 "$(blob_file "$image")"
equals "$(body 'it["errors"][0]["code"]')" MANIFEST_BLOB_UNKNOWN
wants 400 PUT /v2/site/app/manifests/2 -H "Content-Type: $index_type" --data-binary "@$(blob_file "$image")"
put_manifest 400 "/v2/site/app/manifests/$hello" "$(blob_file "$image")"
put_manifest 400 /v2/site/app/manifests/.2 "$(blob_file "$image")"
put_manifest 400 /v2/site/app/manifests/2 first
head -c 4194305 /dev/zero >large
put_manifest 413 /v2/site/app/manifests/2 large
put_manifest 412 /v2/site/app/manifests/1 "$(blob_file "$image")" -H "If-Match: \"$hello\""
put_manifest 412 /v2/site/app/manifests/1 "$(blob_file "$image")" -H 'If-None-Match: *'
put_manifest 201 /v2/site/app/manifests/1 "$(blob_file "$image")" -H "If-Match: \"$image\""
equals "$(header OCI-Subject)" ''

# end-12: a subject that is not there yet; pages; the filter.
documents=$("$KILN_PYTHON" -c 'import json; print(*(m["digest"] for m in json.load(open("layout/index.json"))["manifests"][1:4]))')
for digest in $documents; do
  for part in $("$KILN_PYTHON" -c 'import json, sys; m = json.load(sys.stdin); print(m["config"]["digest"], m["layers"][0]["digest"])' <"$(blob_file "$digest")"); do
    push_blob site/papers "$part"
  done
  put_manifest 201 "/v2/site/papers/manifests/$digest" "$(blob_file "$digest")"
  equals "$(header OCI-Subject)" "$image"
done
wants 200 GET "/v2/site/papers/referrers/$image"
equals "$(header Content-Type) $(body 'len(it["manifests"])')" "$index_type 2"
link=$(header Link | sed 's/^<\(.*\)>; rel="next"$/\1/')
wants 200 GET "$link"
equals "$(header Link)$(body 'len(it["manifests"])')" 1
wants 200 GET "/v2/site/papers/referrers/$image?artifactType=application/spdx%2Bjson"
equals "$(header OCI-Filters-Applied) $(body '[m["artifactType"] for m in it["manifests"]]')" "artifactType ['application/spdx+json']"
wants 200 GET "/v2/site/none/referrers/$image"
equals "$(body 'it["manifests"]')" '[]'
wants 400 GET /v2/site/papers/referrers/latest
faults '* papers no-referrers'
wants 404 GET "/v2/site/papers/referrers/$image"
put_manifest 201 "/v2/site/papers/manifests/$digest" "$(blob_file "$digest")"
equals "$(header OCI-Subject)" ''
faults

# end-8, end-9, end-10: sorted tags in pages; a tag alone, a digest with its tags, a blob.
for tag in c B a; do put_manifest 201 "/v2/site/app/manifests/$tag" "$(blob_file "$image")"; done
wants 200 GET /v2/site/app/tags/list
equals "$(body 'it["tags"]')" "['1', 'a']"
wants 200 GET "$(header Link | sed 's/^<\(.*\)>; rel="next"$/\1/')"
equals "$(header Link)$(body 'it["tags"]')" "['B', 'c']"
wants 200 GET '/v2/site/app/tags/list?n=1&last=a'
equals "$(body 'it["tags"]')" "['B']"
faults 'DELETE . no-tag-delete 1' 'DELETE . no-delete 1 1'
wants 400 DELETE /v2/site/app/manifests/a
wants 405 DELETE "/v2/site/app/manifests/$image"
wants 202 DELETE /v2/site/app/manifests/a
wants 404 GET /v2/site/app/manifests/a
wants 200 GET /v2/site/app/manifests/c
wants 202 DELETE "/v2/site/app/manifests/$image"
wants 404 GET /v2/site/app/manifests/c
wants 404 DELETE "/v2/site/app/manifests/$image"
wants 200 GET "/v2/site/copied/manifests/$image"
wants 202 DELETE "/v2/site/app/blobs/$layer"
wants 404 HEAD "/v2/site/app/blobs/$layer"

# --- faults
for fault in 401 403 404 429 500 503 507; do
  faults "GET ^/v2/site/copied/ $fault 1"
  wants "$fault" GET /v2/site/copied/manifests/1
  wants 200 GET /v2/site/copied/manifests/1
done
faults 'GET copied 429:7 1' 'GET copied 503:date+7 1 1' 'GET copied html:502 1 2' 'PUT copied full' 'PUT three early:413'
wants 429 GET /v2/site/copied/manifests/1
equals "$(header Retry-After)" 7
before=$(date +%s)
wants 503 GET /v2/site/copied/manifests/1
later=$(date -d "$(header Retry-After)" +%s)
if [ "$later" -lt $((before + 7)) ] || [ "$later" -gt $(($(date +%s) + 7)) ]; then fail "Retry-After is $(header Retry-After)"; fi
wants 502 GET /v2/site/copied/manifests/1
holds "$(cat body)" '<html>'
put_manifest 500 /v2/site/copied/manifests/2 "$(blob_file "$image")"
holds "$(cat body)" 'no space left on device'
put_manifest 413 /v2/site/three/manifests/2 "$(blob_file "$image")"

faults 'HEAD copied lie' 'GET blobs corrupt 1' 'GET blobs cut 1 1' 'GET blobs slow:400 1 2' 'GET blobs reset 1 3' 'GET blobs stall 1 4'
wants 200 HEAD /v2/site/copied/manifests/1
[ "$(header Docker-Content-Digest)" != "$image" ] || fail 'the digest is no lie'
wants 200 GET "/v2/site/copied/blobs/$layer"
[ "sha256:$(sha256sum body | cut -d' ' -f1)" != "$layer" ] || fail 'no bit is flipped'
wants 'curl 18' GET "/v2/site/copied/blobs/$layer"
from=$(date +%s%N)
wants 200 GET "/v2/site/copied/blobs/$layer"
[ $(($(date +%s%N) - from)) -ge $(($(wc -c <body) * 2000000)) ] || fail 'that was not slow'
equals "sha256:$(sha256sum body | cut -d' ' -f1)" "$layer"
wants 'curl 56' GET "/v2/site/copied/blobs/$layer"
wants 'curl 28' GET "/v2/site/copied/blobs/$layer" --max-time 5
equals "$(asked "^GET /v2/site/copied/blobs/$layer stalled anonymous")" 1

# In the middle of a body; after it was done; 201 and nothing stored.
faults 'PUT manifests/lost lost' 'PUT manifests/forget forget' 'POST digest= reset'
put_manifest 201 /v2/site/copied/manifests/forget "$(blob_file "$image")"
wants 404 GET /v2/site/copied/manifests/forget
ask PUT /v2/site/copied/manifests/lost -H "Content-Type: $manifest_type" --data-binary "@$(blob_file "$image")"
holds "$status" 'curl '
wants 200 GET /v2/site/copied/manifests/lost
head -c 3000000 /dev/urandom >large
ask POST "/v2/site/copied/blobs/uploads/?digest=sha256:$(sha256sum large | cut -d' ' -f1)" "${bytes[@]}" --data-binary @large
holds "$status" 'curl '
equals "$(asked ' reset anonymous$')" 2
# A client that goes in the middle of its body, and two writers of a tag: the one who is held finds it moved.
faults
ask POST "/v2/site/copied/blobs/uploads/?digest=$hello" "${bytes[@]}" --data-binary @large --limit-rate 200k --max-time 3
equals "$status" 'curl 28'
wait_for_request '^POST /v2/site/copied/blobs/uploads/\?digest=.* left '
put_manifest 201 /v2/site/papers/manifests/moved "$(blob_file "${documents%% *}")"
equals "$(header Docker-Content-Digest)" "${documents%% *}"
faults 'PUT manifests/moved hold 1'
curl --silent --request PUT --output /dev/null --write-out '%{http_code}' -H "Content-Type: $manifest_type" \
  -H "If-Match: \"${documents%% *}\"" --data-binary "@$(blob_file "${documents%% *}")" "$site/v2/site/papers/manifests/moved" >held &
held=$!
wait_for_request '^PUT /v2/site/papers/manifests/moved held '
put_manifest 201 /v2/site/papers/manifests/moved "$(blob_file "${documents##* }")"
release
wait "$held"
equals "$(cat held)" 412
# A blob that lies elsewhere: whoever shows a password there is refused.
faults 'GET blobs redirect'
wants 200 GET "/v2/site/copied/blobs/$layer" --location
wants 400 GET "/v2/site/copied/blobs/$layer" --location-trusted --user kiln:word
stop_double

# --- name and password, tokens, TLS
make_certificate certificates
export SSL_CERT_FILE=$work/certificates/ca.crt
for auth in basic bearer; do
  faults
  start_double --relative --tls certificates/ca.crt certificates/key.pem --auth "$auth"
  site=https://$double
  write_auth_file auth.json "$double" kiln word:of-the-double
  echo kiln:word:of-the-double >"$double_folder/users"
  wants 401 GET /v2/
  holds "$(header WWW-Authenticate | tr '[:upper:]' '[:lower:]')" "$auth "
  export REGISTRY_AUTH_FILE=$work/auth.json
  skopeo copy --quiet --preserve-digests oci:layout:image "docker://$double/site/app:1"
  rm -rf back
  skopeo copy --quiet --preserve-digests "docker://$double/site/app:1" oci:back:image
  equals "$(skopeo inspect --format '{{.Digest}}' oci:back:image)" "$image"
  equals "$(asked '^PUT /v2/site/app/manifests/1 201 authorized$')" 1
  wants 401 GET /v2/site/app/manifests/1
  faults 'GET blobs redirect'
  rm -rf back
  skopeo copy --quiet "docker://$double/site/app:1" oci:back:image
  [ "$(asked '^GET /elsewhere/.* 200 ')" -ge 2 ] || fail 'no blob lay elsewhere'
  echo kiln:another >"$double_folder/users"
  status=0
  skopeo copy --quiet oci:layout:image "docker://$double/site/app:2" 2>said || status=$?
  equals "$status" 1
  lacks "$(cat "$double_folder/requests")" "$(printf kiln:word:of-the-double | base64)"
  unset REGISTRY_AUTH_FILE
  [ "$auth" = basic ] || break
  stop_double
done

# What a token allows: what was asked for, of that repository, until it ends; a mount reads the other repository.
printf '%s\n' kiln:word '<token>:identity' >"$double_folder/users"
# token SCOPE…: one for these, with name and password.
token() {
  local -a scopes=()
  for scope in "$@"; do scopes+=(--data-urlencode "scope=$scope"); done
  token=$(curl --silent --fail --get --user kiln:word --data service=registry-double "${scopes[@]}" "$site/token" |
    "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["token"])')
}
wants 401 GET '/token?service=registry-double&scope=repository:site/app:pull'
token repository:site/app:pull
wants 200 GET /v2/site/app/manifests/1 -H "Authorization: Bearer $token"
wants 401 POST /v2/site/app/blobs/uploads/ -H "Authorization: Bearer $token"
holds "$(header WWW-Authenticate)" 'scope="repository:site/app:pull,push",error="insufficient_scope"'
token repository:site/app:pull,push
wants 401 GET /v2/site/other/tags/list -H "Authorization: Bearer $token"
wants 401 DELETE /v2/site/app/manifests/1 -H "Authorization: Bearer $token"
wants 401 POST "/v2/site/app/blobs/uploads/?mount=$layer&from=site/other" -H "Authorization: Bearer $token"
holds "$(header WWW-Authenticate)" 'scope="repository:site/app:pull,push repository:site/other:pull"'
token repository:site/app:pull,push repository:site/other:pull
wants 202 POST "/v2/site/app/blobs/uploads/?mount=$layer&from=site/other" -H "Authorization: Bearer $token"
holds "$(header Location)" /uploads-of/site/app/
wants 200 POST /token --data 'service=registry-double&grant_type=refresh_token&scope=repository:site/app:pull' --data-urlencode refresh_token=identity
wants 401 POST /token --data 'service=registry-double&grant_type=refresh_token&refresh_token=word'
stop_double
start_double --tls certificates/ca.crt certificates/key.pem --auth bearer --token-seconds 0
site=https://$double
token repository:site/app:pull
wants 401 GET /v2/site/app/manifests/1 -H "Authorization: Bearer $token"
holds "$(header WWW-Authenticate)" invalid_token
