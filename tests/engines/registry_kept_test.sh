#!/usr/bin/env bash
# What a registry loses, what another program does to its tags, and an index that an administrator takes back: what a night,
# `kiln publish` and `kiln index` do about it, against Debian's registry.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
start_registry
place=$host/ai
cp -r "$tiny" tiny
cat >tiny/some.json <<'J'
{"name": "some", "axes": {"framework": ["hello"], "version": ["2.10"], "method": ["distro"], "library": ["none", "fast"], "base": ["busybox@1.35"], "target": ["plain"]}}
J
echo "{\"publish\": {\"registry\": \"$place\"}, \"formats\": [\"oci\"], \"pull\": {\"retries\": 0}, \"nightly\": {\"update\": {\"proposals\": 0}}}" >site.json
night() { expect "$1" "$KILN" nightly -f tiny/some.json --no-update --report report; }
troubles() { "$KILN_PYTHON" -c 'import json; print("\n".join(it["what"] for it in json.load(open("report/night.json")).get("troubles", [])))'; }
remarks() { "$KILN_PYTHON" -c 'import json; print("\n".join(json.load(open("report/night.json")).get("remarks", [])))'; }
in_index() { "$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; [print(x["repository"] + ":" + x["tag"], x["manifest"]) for x in json.load(sys.stdin)]'; }
named() { skopeo inspect --format '{{.Digest}}' "docker://$place/$1" 2>/dev/null || echo nothing; }
lose() { rm -r "registry/docker/registry/v2/blobs/sha256/${1:7:2}/${1:7}"; }
pulls() { rm -rf pulled && skopeo copy --quiet "docker://$place/$1" oci:pulled:x 2>/dev/null; }
night 0
read -r first first_digest < <(in_index | head -1)
read -r second second_digest < <(in_index | tail -1)
layer=$(skopeo inspect --raw "docker://$place/$first" | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["layers"][-1]["digest"])')

# 1. Nothing is lost, and everything was looked at.
expect 0 "$KILN" index fsck
holds "$out" "$place: not looked at (--registry looks)"
expect 0 "$KILN" index fsck --registry
holds "$out" "$place: 2 images looked at: nothing is lost"
expect 0 "$KILN" index fsck --registry --deep --format json
equals "$(json 'it["registry"]["lost"] + it["registry"]["left"]')" '[]'

# 2. A blob: fsck names it and changes nothing, a night pushes it again and says so.
lose "$layer"
expect 6 "$KILN" index fsck --registry
holds "$out" "$layer, is missing ("
! pulls "$first" || fail 'nothing was lost'
night 0
holds "$(remarks)" "the registry had lost a part, which was pushed again: $place/hello: layer"
pulls "$first" || fail "skopeo does not pull $first"
night 0
lacks "$(remarks)" 'lost'
lose "$layer"
expect 0 "$KILN" index fsck --registry --repair
holds "$out" 'pushed again'
pulls "$first" || fail "skopeo does not pull $first"

# 3. The manifest itself, with everything that names it.
lose "$first_digest"
night 0
equals "$(named "$first")" "$first_digest"

# 4. What the store has lost as well is said; the next night makes it again, and pushes it.
lose "$layer"
find .kiln -name "${layer:7}" -delete # the layouts have it as well
expect 8 "$KILN" index fsck --registry --repair
holds "$out" "lost $place/hello: layer"
holds "$out" ': cannot be pushed again: '
night 0
pulls "$first" || fail "skopeo does not pull $first"

# 5. A tag that is gone is set again; one that names another image is left, whatever there is to build.
curl -fsS --cacert "$SSL_CERT_FILE" --config - -X DELETE "https://$host/v2/ai/hello/manifests/$second_digest" <<<"user = \"$registry_name:$registry_password\""
equals "$(named "$second")" nothing
night 0
equals "$(named "$second")" "$second_digest"
skopeo copy --quiet "docker://$place/$second" "docker://$place/$first"
equals "$(named "$first")" "$second_digest"
night 7
holds "$(troubles)" "the tag is left unchanged: $place/$first: it names $second_digest, and kiln had moved it to $first_digest"
expect 7 "$KILN" index fsck --registry
expect 7 "$KILN" publish -f tiny/some.json
equals "$(named "$first")" "$second_digest"
expect 0 "$KILN" publish -f tiny/some.json --take-tags
holds "$out" '1 tag moved'
equals "$(named "$first")" "$first_digest"

# 6. An index that is taken back: the tags follow, and nights hold it until it is released.
echo '# changed' >>tiny/recipes/framework/hello/hello
night 0
[ "$(named "$first")" != "$first_digest" ] || fail 'the night built nothing'
newer=$(named "$first")
expect 0 "$KILN" index rollback 1
holds "$out" 'snapshot 1 is current'
holds "$out" 'it is held: nights publish nothing until '
holds "$out" "$place: 0 images pushed (0 blobs, 0.0 MB), 0 unchanged, 2 tags moved"
equals "$(named "$first")" "$first_digest"
expect 0 "$KILN" index snapshots
holds "$out" 'current, held'
night 1
holds "$(remarks)" 'held at snapshot 1 by an administrator'
equals "$("$KILN_PYTHON" -c 'import json; print(json.load(open("report/night.json"))["state"])')" held
equals "$(named "$first")" "$first_digest"
expect 0 "$KILN" index release
night 0
equals "$(named "$first")" "$newer"

# 7. Without the registry the index goes back all the same, and the command can be repeated; --local asks nobody.
stop_registry
expect 6 "$KILN" index rollback 1
holds "$out" 'snapshot 1 is current'
holds "$err" "moving the tags of $place to snapshot 1"
expect 0 "$KILN" index rollback 1 --local
holds "$out" "$place: the tags of 2 images in this registry stay as they are; \`kiln index rollback 1 --to $place\` moves them"
start_registry
equals "$(named "$first")" "$newer"
expect 0 "$KILN" index rollback 1
equals "$(named "$first")" "$first_digest"

# 8. What is retired stays so, wherever the index goes; and its tag is left alone.
expect 0 "$KILN" index rollback 2
expect 0 "$KILN" index retire "$first" --reason 'wrong results'
expect 0 "$KILN" index rollback 1
expect 4 "$KILN" index list state=retired
expect 0 "$KILN" index rollback 2
holds "$out" 'without the images retired since'
expect 0 "$KILN" index list state=retired --format json
equals "$(json 'len(it)')" 1
