#!/usr/bin/env bash
# Bases from a real registry on the loopback interface: kiln lock, a build on the pinned base, a tag that moves upstream,
# kiln lock --update, --locked, kiln diff and kiln sif docker://…, and what happens when the registry is down.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
for tool in buildah skopeo; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool here"; exit 77; }
done

# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
start_registry

# push TAG WORD [ARCHITECTURE]: the tiny busybox with /etc/word, as $host/site/box:TAG. Its digest is in $pushed.
KILN_VERSION=1.35 KILN_OUTPUT=$work/box.tar sh -eu "$tiny/recipes/base/busybox/rootfs.sh"
engine() { buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"; }
push() {
  local container
  container=$(engine from --arch "${3:-amd64}" scratch)
  echo "$2" >word
  engine add --quiet "$container" box.tar / >/dev/null
  engine add --quiet "$container" word /etc/word >/dev/null
  engine config --env "WORD=$2" "$container"
  engine commit --quiet "$container" "oci:$work/pushed:box" >/dev/null
  skopeo --registries-conf "$CONTAINERS_REGISTRIES_CONF" copy --quiet "oci:$work/pushed:box" "docker://$host/site/box:$1"
  rm -r pushed
  engine rm "$container" >/dev/null
  pushed=$(digest_of "$1")
}
# The registry's own word for it.
digest_of() {
  "$KILN_PYTHON" - "$host" "$1" <<'PY'
import sys, urllib.request
accept = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json"
request = urllib.request.Request(f"http://{sys.argv[1]}/v2/site/box/manifests/{sys.argv[2]}", headers={"Accept": accept})
print(urllib.request.urlopen(request).headers["Docker-Content-Digest"])
PY
}
push 1 one
first=$pushed

# The tiny catalogue with two bases: box, pulled, and busybox, made here.
cp -r "$tiny" site
mkdir site/recipes/base/box
box() { # box VERSION…: the recipe with these versions
  local versions
  versions=$(printf ', "%s": {}' "$@")
  cat >site/recipes/base/box/recipe.json <<JSON
{
  "description": "busybox from a registry",
  "licenses": "GPL-2.0-only",
  "versions": {${versions#, }},
  "methods": {
    "hub": {"image": "$host/site/box:{version}"}
  }
}
JSON
}
box 1
cat >site/site.json <<JSON
{
  "name": "site",
  "axes": {
    "framework": ["hello"], "version": ["2.10"], "method": ["distro"], "library": ["none", "fast"],
    "base": ["box@1", "busybox@1.35"], "target": ["plain"]
  }
}
JSON
matrix=site/site.json
lock=site/site.lock.json
box_step() { json '[step for step in it["steps"].values() if step["kind"] == "pull"][0]["reference"]'; }
states() { json 'sorted((cell["axes"]["base"], cell["state"]) for cell in it["cells"])'; }

# 1. No lockfile: nothing is pinned, and --locked refuses.
expect 0 "$KILN" show -f "$matrix" --stage plan
equals "$(box_step)" "$host/site/box:1"
expect 7 "$KILN" plan -f "$matrix" --locked
holds "$err" 'there is no lockfile site/site.lock.json'

# 2. The digest of the lockfile is the registry's, and the same lock gives the same bytes.
expect 0 "$KILN" lock -f "$matrix" -n
[ ! -e "$lock" ] || fail '--dry-run wrote the lockfile'
expect 0 "$KILN" lock -f "$matrix"
holds "$err" 'nothing pins base/busybox@1.35:distro: made by rootfs.sh on the build host'
out=$(cat "$lock")
equals "$(json 'it["components"]["base/box@1:hub"]["digests"]["amd64"]')" "$first"
equals "$(json 'sorted(it["components"])')" "['base/box@1:hub', 'base/busybox@1.35:distro', 'framework/hello@2.10:distro', 'library/fast@0.3:distro']"
cp "$lock" first.lock.json
expect 0 "$KILN" lock -f "$matrix"
holds "$out" 'nothing changed'
cmp "$lock" first.lock.json || fail 'the same lock has other bytes'

# 3. The plan, both files and the build are on the digest.
expect 0 "$KILN" show -f "$matrix" --stage plan --locked
equals "$(box_step)" "$host/site/box@$first"
expect 0 "$KILN" plan -f "$matrix" --locked --format json
cell=$(json '[cell["id"] for cell in it["cells"] if (cell["axes"]["base"], cell["axes"]["library"]) == ("box@1", "none")][0]')
expect 0 "$KILN" generate -f "$matrix" --locked "$cell" --format dockerfile
holds "$out" "
# box 1 (hub): $host/site/box:1
FROM $host/site/box@$first AS base"
expect 0 "$KILN" generate -f "$matrix" --locked "$cell" --format singularity
holds "$out" "From: $host/site/box@$first
# $host/site/box:1"
expect 0 "$KILN" build -f "$matrix" --locked --format json
equals "$(json '(it["built"], it["failed"])')" '(4, 0)'
expect 0 "$KILN" generate -f "$matrix" --locked "$cell" -o plain
engine bud --isolation chroot --quiet "$(find "$work/plain" -name Dockerfile -printf %h)" >/dev/null ||
  fail 'the Dockerfile does not build without kiln'

# 4. The tag moves upstream: under the lock nothing is rebuilt, and a fresh state folder builds the same bits.
push 1 two
second=$pushed
[ "$first" != "$second" ] || fail 'the tag did not move'
expect 0 "$KILN" build -f "$matrix" --locked
holds "$out" 'nothing to do'
expect 0 "$KILN" lock -f "$matrix"
holds "$out" 'nothing changed'
expect 0 "$KILN" build -f "$matrix" --locked --state fresh --format json
equals "$(json '(it["built"], it["failed"])')" '(4, 0)'
manifests() { "$KILN_PYTHON" -c 'import glob, json, sys; print(sorted(json.load(open(file))["manifest"] for file in glob.glob(sys.argv[1] + "/built/*.json")))' "$1"; }
equals "$(manifests fresh)" "$(manifests .kiln)"

# 5. By the site's policy: held for a week after it was pinned, then moved; what stands on it is to be built, and nothing else.
short() { printf '%s' "${1#sha256:}" | cut -c "1-$2"; }
expect 0 "$KILN" lock -f "$matrix" --by-policy
holds "$out" "base/box@1:hub: digest amd64 $(short "$first" 12) → $(short "$second" 12), held until 20"
holds "$out" '0 changes, 1 change held, nothing changed'
cmp "$lock" first.lock.json || fail 'a change that is held was written'
expect 0 "$KILN" plan -f "$matrix" --locked --format json
equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'built'}"
since() { edit "s/\"since\": \"[^\"]*\"/\"since\": \"$1\"/" "$lock"; }
since "$(date -u -d '-8 days' +%FT%TZ)"
expect 0 "$KILN" lock -f "$matrix" --by-policy -n --format json
equals "$(json '([change["what"] for change in it["changes"]], it["held"], it["problems"], it["written"])')" "(['digest amd64'], [], [], False)"
printf '{"nightly": {"update": {"bases": "never"}}}\n' >never.json
expect 0 "$KILN" --site never.json lock -f "$matrix" --by-policy
holds "$out" 'nothing changed'
expect 0 "$KILN" lock -f "$matrix" --by-policy
holds "$out" '1 change, written'
out=$(cat "$lock")
[ "$(json 'it["components"]["base/box@1:hub"]["since"][:10]')" = "$(date -u +%F)" ] || fail 'the date of the move is not written'
expect 0 "$KILN" plan -f "$matrix" --locked --format json
equals "$(states)" "[('box@1', 'to build'), ('box@1', 'to build'), ('busybox@1.35', 'built'), ('busybox@1.35', 'built')]"
holds "$out" "base/box: base digest $(short "$first" 6)… → $(short "$second" 6)…"
expect 2 "$KILN" lock -f "$matrix" --by-policy --update box
cp first.lock.json "$lock"

# 6. --update shows old → new, changes nothing else, and what stands on the base is rebuilt, with the reason.
push other elsewhere
expect 0 "$KILN" lock -f "$matrix" --update box -n
holds "$out" "base/box@1:hub: digest amd64 $(short "$first" 12) → $(short "$second" 12)"
cmp "$lock" first.lock.json || fail '--dry-run changed the lockfile'
echo '# changed' >>site/recipes/framework/hello/distro.sh # its recipe digest in the lock must not move
for name in base/box "$host/site/box:1" 'b?x'; do
  cp first.lock.json "$lock"
  expect 0 "$KILN" lock -f "$matrix" --update "$name" --format json
  equals "$(json '[(change["id"], change["what"], change["before"], change["now"]) for change in it["changes"]]')" \
    "[('base/box@1:hub', 'digest amd64', '$first', '$second')]"
done
[ "$(diff "$lock" first.lock.json | grep '^[<>]' | grep -vc '"since"')" = 2 ] || fail '--update changed more than the digest and its date'
cp "$tiny/recipes/framework/hello/distro.sh" site/recipes/framework/hello/distro.sh
expect 4 "$KILN" lock -f "$matrix" --update bxo
holds "$err" "did you mean 'box'?"
expect 0 "$KILN" plan -f "$matrix" --locked --format json
equals "$(states)" "[('box@1', 'to build'), ('box@1', 'to build'), ('busybox@1.35', 'built'), ('busybox@1.35', 'built')]"
holds "$out" "base/box: base digest $(short "$first" 6)… → $(short "$second" 6)…"
expect 0 "$KILN" build -f "$matrix" --locked --format json
equals "$(json '(it["built"], it["up_to_date"], it["failed"])')" '(2, 2, 0)'
immutable=$("$KILN" show -f "$matrix" "$cell" | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["immutable_tag"])')
expect 0 skopeo inspect --config "oci:.kiln/images/hello/$immutable:${immutable%-*}"
holds "$out" 'WORD=two'

# 7. kiln diff: two lockfiles, and the matrix under either.
expect 0 "$KILN" diff first.lock.json "$lock"
holds "$out" "base/box@1:hub: digest amd64 $(short "$first" 12) → $(short "$second" 12)"
expect 1 "$KILN" diff first.lock.json "$matrix" --exit-code --format json
equals "$(json '(it["summary"]["changed"], it["summary"]["unchanged"])')" '(2, 2)'
expect 0 "$KILN" diff "$matrix" "$lock" --exit-code
holds "$out" '0 added, 0 removed, 0 changed, 0 to re-test, 0 to re-tag, 4 unchanged'

# 8. An image index: the digest of each platform's own manifest, chosen by the target.
push arm three arm64
arm=$pushed
push amd three amd64
amd=$pushed
"$KILN_PYTHON" - "$host" "amd64=$amd" "arm64=$arm" <<'PY'
import json, sys, urllib.request
base, manifest, index = f"http://{sys.argv[1]}/v2/site/box/manifests/", "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json"
entries = []
for platform in sys.argv[2:]:
    architecture, digest = platform.split("=")
    size = len(urllib.request.urlopen(urllib.request.Request(base + digest, headers={"Accept": manifest})).read())
    entries.append({"mediaType": manifest, "digest": digest, "size": size, "platform": {"os": "linux", "architecture": architecture}})
body = json.dumps({"schemaVersion": 2, "mediaType": index, "manifests": entries}).encode()
urllib.request.urlopen(urllib.request.Request(base + "3", body, {"Content-Type": index}, method="PUT"))
PY
[ "$(digest_of 3)" != "$amd" ] || fail 'box:3 is no index'
box 1 3
cp "$lock" before.lock.json
sed 's/"box@1", "busybox@1.35"/"box@3"/; s/"plain"/"plain", "neoverse_v1"/' "$matrix" >site/both.json
expect 0 "$KILN" lock -f site/both.json
out=$(cat site/both.lock.json)
equals "$(json 'it["components"]["base/box@3:hub"]["digests"]')" "{'amd64': '$amd', 'arm64': '$arm'}"
edit 's/"neoverse_v1"/"power9le"/' site/both.json
expect 3 "$KILN" lock -f site/both.json --update box
holds "$err" "$host/site/box:3 has no image for ppc64le; it is for amd64, arm64"

# 9. Beyond the lockfile: a warning that names it; with --locked exit 7, the place in the recipe, nothing written.
edit 's/"box@1", /"box@1", "box@3", /' "$matrix"
expect 0 "$KILN" plan -f "$matrix"
holds "$err" 'site/recipes/base/box/recipe.json:4:'
holds "$err" 'warning: base/box@3:hub is not in site/site.lock.json'
for command in plan "build --state never" "generate -o never"; do
  # shellcheck disable=SC2086 # a command and its options
  expect 7 "$KILN" $command -f "$matrix" --locked
  holds "$err" 'error: base/box@3:hub is not in site/site.lock.json'
  equals "$out" ''
done
[ ! -e never ] || fail '--locked wrote something'
expect 0 "$KILN" lock -f "$matrix"
expect 0 "$KILN" diff before.lock.json "$lock"
holds "$out" "base/box@3:hub: new (digest amd64 $(short "$amd" 12), image $host/site/box:3)"
expect 0 "$KILN" plan -f "$matrix" --locked

# 10. A SIF from the registry, by tag, by digest, and of another architecture.
expect 0 "$KILN" sif "docker://$host/site/box:1" -o tag.sif
expect 0 "$KILN" sif check tag.sif
expect 0 "$KILN" sif "docker://$host/site/box:1@$second" -o digest.sif --reproducible
expect 0 "$KILN" sif "docker://$host/site/box:3" --arch arm64 -o arm.sif
expect 0 "$KILN" sif check arm.sif
holds "$out" arm64
expect 3 "$KILN" sif "docker://$host/site/box:nine" -o nine.sif
holds "$err" 'manifest unknown'
[ ! -e nine.sif ] || fail 'a SIF of nothing'

# 11. The registry is down: exit 6 after the tries that the site grants, the lockfile as it was; what is built stays up to date.
stop_registry
cp "$lock" before.lock.json
printf '{"pull": {"retries": 1}}\n' >once.json
export KILN_SITE=$work/once.json
expect 6 "$KILN" lock -f "$matrix" --update box
holds "$err" "cannot ask for the manifest of $host/site/box:1"
holds "$err" 'connection refused; tried 2 times in '
cmp "$lock" before.lock.json || fail 'the lockfile changed'
expect 0 "$KILN" lock -f "$matrix" --by-policy
holds "$err" "warning: cannot ask for the manifest of $host/site/box:1"
holds "$err" 'while base/box@1:hub stays as it is'
equals "$(grep -c 'tried 2 times' <<<"$err")" 2 # of two bases of this registry: it is asked once, and both are told
cmp "$lock" before.lock.json || fail 'a night changed a lockfile that it could not ask for'
expect 6 "$KILN" sif "docker://$host/site/box:1" -o down.sif
expect 0 "$KILN" lock -f "$matrix"
holds "$out" 'nothing changed'
expect 0 "$KILN" build -f "$matrix" --locked base=box@1
holds "$out" 'nothing to do'

# 12. Without TLS and without registries.conf, the hint says what to do.
start_registry
unset CONTAINERS_REGISTRIES_CONF
expect 6 "$KILN" lock -f "$matrix" --update box
holds "$err" 'insecure = true'
echo "registry: locked, moved, updated, refused"
