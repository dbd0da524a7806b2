#!/usr/bin/env bash
# A mirror of small catalogues upon a base from a registry: built without a network by tag and by digest and with each engine, several
# catalogues and architectures in one folder, and what becomes of damage, a full disk, folders that cannot be written, odd names.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
for tool in buildah skopeo podman; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool here"; exit 77; }
done
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
start_registry
export XDG_CACHE_HOME=$work/cache

# 1. The base: busybox, as $host/site/box:1, an index of the images of two architectures.
KILN_VERSION=1.35 KILN_OUTPUT=$work/box.tar sh -eu "$tiny/recipes/base/busybox/rootfs.sh"
engine() { buildah --storage-driver vfs --root "$work/buildah" --runroot "$work/run" "$@"; }
engine manifest create box >/dev/null
for architecture in amd64 arm64; do
  container=$(engine from --arch "$architecture" scratch)
  echo "$architecture" >word
  engine add --quiet "$container" box.tar / >/dev/null
  engine add --quiet "$container" word /etc/word >/dev/null
  engine commit --quiet "$container" "box-$architecture" >/dev/null
  engine manifest add --arch "$architecture" box "localhost/box-$architecture" >/dev/null
done
engine manifest push --all --quiet --tls-verify=false box "docker://$host/site/box:1" >/dev/null

# 2. Catalogues: `tags` has no lockfile, `digests` has one; both have a busybox of the machine's own as well, whose step is a script.
cp -r "$tiny" site
mkdir site/recipes/base/box
echo "{\"description\": \"busybox from a registry\", \"licenses\": \"GPL-2.0-only\", \"versions\": {\"1\": {}}, \"methods\": {\"hub\": {\"image\": \"$host/site/box:{version}\"}}}" \
  >site/recipes/base/box/recipe.json
for name in tags digests; do
  echo '{"name": "'$name'", "axes": {"framework": ["hello"], "version": ["2.10"], "method": ["distro"], "library": ["none", "fast"], "base": ["box@1"], "target": ["plain", "neoverse_v1"]}}' \
    >site/$name.json
done
echo '{"formats": ["oci"]}' >site.json
export KILN_SITE=$work/site.json
expect 0 "$KILN" lock -f site/digests.json
here=('target=plain') # the others run on another machine
for name in tags digests; do
  expect 0 "$KILN" build -f site/$name.json --state with-$name "${here[@]}"
  holds "$out" '2 built'
done

# 3. One folder for both, and for what an index names for each architecture.
fill() { expect "$1" "$KILN" mirror -f "site/$2.json" "$mirror" --state "with-$2" --format json "${@:3}"; }
mirror=mirror
fill 0 tags "${here[@]}"
equals "$(json '(it["items"], it["fetched"], it["unbuilt_steps"])')" '(1, 1, 0)'
fill 0 tags
equals "$(json '(it["items"], it["fetched"])')" '(2, 1)'
fill 0 digests
equals "$(json '(it["items"], it["fetched"])')" '(2, 2)'
for name in tags digests; do
  fill 0 $name
  equals "$(json '(it["items"], it["fetched"])')" '(2, 0)'
done
# Some of a catalogue takes nothing from the rest of it.
fill 0 tags "${here[@]}"
equals "$(json 'it["items"]')" 1
equals "$("$KILN_PYTHON" -c 'import json; print(sorted(len(i["cells"]) for i in json.load(open("mirror/mirror.json"))["items"]))')" '[2, 2, 2, 2]'
expect 0 "$KILN" mirror --check mirror
holds "$out" '4 items checked, all whole'

# 4. Without a network: the same bits, by each engine; nothing that is kept speaks of the mirror.
stop_registry
# A folder that a site may have: with blanks, in any script, and not to be written.
carried="$work/carried mirror, of März"
cp -a mirror "$carried"
mount --bind "$carried" "$carried" && mount -o remount,bind,ro "$carried"
offline() { expect "$1" unshare --net -- "$KILN" "${@:2}" --offline --mirror "$carried"; }
images() { "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/image_bits.py" "$1"; }
for name in tags digests; do
  offline 0 build -f site/$name.json --state without-$name "${here[@]}"
  holds "$out" '2 built'
  equals "$(images without-$name)" "$(images with-$name)"
  if grep -rlF -e carried -e /run/kiln/mirror without-$name/{steps,built,store}; then fail 'the mirror in a record'; fi
done
offline 0 build -f site/digests.json --state podman --engine podman "${here[@]}"
equals "$(images podman)" "$(images with-digests)"
if command -v dockerd >/dev/null; then
  # shellcheck source=tests/support/dockerd.sh
  . "$KILN_SOURCE/tests/support/dockerd.sh"
  start_dockerd
  offline 0 build -f site/digests.json --state docker --engine docker "${here[@]}"
  equals "$(images docker)" "$(images with-digests)"
fi

# 5. A night is one of those builds; what needs a network says so.
offline 0 nightly -f site/digests.json --state without-digests --local
holds "$err" 'the lockfile stays as it is'
offline 2 lock -f site/digests.json
holds "$err" 'a lockfile is made with a network'
offline 2 mirror -f site/digests.json mirror
holds "$err" 'a mirror is filled with a network'
for folder in docker://registry.site/mirror https://mirror.site oci:mirror; do
  expect 2 "$KILN" mirror -f site/digests.json "$folder"
  holds "$err" 'a mirror is a folder'
  [ ! -e "${folder%%:*}:" ] || fail "a folder ${folder%%:*}:"
done
umount "$carried"

# flip FILE [AT]: one bit of the byte there, or in its middle.
flip() {
  "$KILN_PYTHON" - "$@" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    content = file.read()
    at = int(sys.argv[2]) if len(sys.argv) > 2 else len(content) // 2
    file.seek(at)
    file.write(bytes([content[at] ^ 1]))
END
}
# 6. A flipped bit in whatever it is: it is found, no image comes of it, and the same command mends it.
start_registry
item=$("$KILN_PYTHON" -c 'import json; print(next(i["path"] for i in json.load(open("mirror/mirror.json"))["items"] if "sha256" in i["name"] and "amd64" in i["name"]))')
for file in "mirror/$item"/index.json "mirror/$item"/blobs/sha256/* mirror/pip/links.html; do
  cp "$file" good
  flip "$file"
  expect 8 "$KILN" mirror --check mirror
  holds "$out" 'is damaged'
  case $file in
    */pip/*) ;;
    *)
      expect 8 "$KILN" build -f site/digests.json --state damaged --offline --mirror mirror "${here[@]}"
      holds "$out" '0 built'
      holds "$out" "amd64 is damaged in the mirror $work/mirror"
      rm -rf damaged
      ;;
  esac
  fill 0 digests
  cmp "$file" good
done
flip mirror/mirror.json 0
expect 3 "$KILN" mirror --check mirror
holds "$err" 'mirror/mirror.json:'
holds "$err" 'remove it'
rm mirror/mirror.json
for name in tags digests; do
  fill 0 $name
  equals "$(json 'it["fetched"]')" 0
done
expect 0 "$KILN" mirror --check mirror

# Packages of no archive that anybody knows: that they are not there is told.
cp -r site apt
printf '%s\n' 'mkdir -p /var/lib/dpkg && printf "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n" >/var/lib/dpkg/status' \
  >>apt/recipes/framework/hello/distro.sh
expect 0 "$KILN" build -f apt/tags.json --state with-packages "${here[@]}"
expect 3 "$KILN" mirror -f apt/tags.json packages --state with-packages "${here[@]}"
holds "$err" "steps upon base/box 1 have packages, and apt's sources in them and in its image name no archive"

# 7. A full disk, and a folder that cannot be written: a word, and the same command goes on when there is room.
mkdir small
mount -t tmpfs -o size=1300k tmpfs small
mirror=small/mirror
fill 8 digests
holds "$err$out" 'no space left on device'
mount -o remount,size=20m small
fill 0 digests
expect 0 "$KILN" mirror --check small/mirror
mount -o remount,ro small
fill 8 digests
holds "$err" 'small/mirror'
umount small

# 8. Killed at any time, the folder is a mirror or becomes one.
mirror=killed
for moment in 0.05 0.1 0.15 0.2 0.3 0.4; do
  rm -rf killed
  (timeout --signal=KILL "$moment" "$KILN" mirror -f site/digests.json killed --state with-digests >/dev/null 2>&1 || true) 2>/dev/null
  fill 0 digests
  expect 0 "$KILN" mirror --check killed
  equals "$(find killed/tmp -mindepth 1 | wc -l)" 0
done
echo 'mirrors of bases: ok'
