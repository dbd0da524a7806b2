#!/usr/bin/env bash
# The tiny catalogue, built ten times, each time later and under other circumstances: the same layers, manifests and SIF files. Then a
# recipe whose tool does not play along, and the report that names its file.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

archspec=$("$KILN_PYTHON" -c 'import archspec, pathlib; print(pathlib.Path(archspec.__file__).parent / "json/cpu/microarchitectures.json")')
user=kiln-same-bits
home=
remove_user() {
  unmount_all
  [ -z "$home" ] || userdel --remove "$user" >/dev/null 2>&1 || true
}
trap remove_user EXIT

digests() { # digests STATE: one line an image: its name, manifest, layers and SIF
  "$KILN_PYTHON" - "$1" <<'END'
import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/built/*.json")):
    record = json.load(open(path))
    digest = record["manifest"].split(":")[1]
    manifest = json.load(open(f"{sys.argv[1]}/store/sha256/{digest[:2]}/{digest}"))
    layers = " ".join(layer["digest"] for layer in manifest["layers"])
    sif = [item["blob"]["digest"] for item in record["attachments"] if item["kind"] == "sif"]
    assert len(sif) == 1, record["tag"]
    print(record["tag"], record["manifest"], layers, sif[0])
END
}

# round NAME COMMAND…: builds into a state folder of its own; the first round says what is right.
right=
round() {
  local name=$1 status=0
  shift
  "$@" >"round-$name.out" 2>"round-$name.err" || status=$?
  [ "$status" = 0 ] || { cat "round-$name.err"; fail "round $name: exit status $status"; }
  digests "${round_state:-$work/$name}" >"round-$name.digests"
  [ "$(wc -l <"round-$name.digests")" = 7 ] || fail "round $name: not seven images"
  [ -n "$right" ] || right=$work/round-$name.digests
  diff "$right" "round-$name.digests" >round.diff || { cat round.diff; fail "round $name has other bits"; }
  echo "round $name: the same bits"
  [ "$right" = "$work/round-$name.digests" ] || [ -n "${round_state:-}" ] || rm -rf "${work:?}/$name"
}
cd "$work"
build() { # build STATE [WORDS…]: a catalogue that lies elsewhere each time
  local name=$1
  shift
  cp -r "$tiny" "tiny-$name"
  "$@" "$KILN" build -f "tiny-$name/tiny.json" --state "$work/$name"
}
elsewhere() { # another working folder, with a name of its own
  mkdir -p "$work/a folder/down here" && (cd "$work/a folder/down here" && build "$1")
}
narrow() { (umask 077 && build "$1"); }
wide() { (umask 000 && build "$1"); }

round first build first
round time-zone build time-zone env TZ=Pacific/Kiritimati
round locale build locale env LC_ALL=C LANG=tr_TR.UTF-8 LANGUAGE=tr
round umask-077 narrow umask-077
round umask-000 wide umask-000
round one-processor build one-processor taskset -c 0
round epoch-by-default build epoch-by-default env -u SOURCE_DATE_EPOCH
round folder elsewhere folder
round environment build environment env -i PATH="$PATH" HOME=/nowhere SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" USER=somebody KILN_JOBS=4

# A project folder of a site hands its group, its set-group-id bit and a default ACL down.
shared() {
  mkdir project
  chgrp 4711 project
  chmod 2775 project
  # u::rwx, g::rwx, o::--- as the kernel keeps them (linux/posix_acl_xattr.h)
  "$KILN_PYTHON" -c 'import os, struct
os.setxattr("project", "system.posix_acl_default", struct.pack("<IHHIHHIHHI", 2, 1, 7, 0xffffffff, 4, 7, 0xffffffff, 0x20, 0, 0xffffffff))' ||
    echo 'this file system has no ACLs'
  build project/k
}
mkdir tiny-project
round_state=$work/project/k round shared-folder shared

# A user without rights, in a user namespace that kiln enters by itself.
id "$user" >/dev/null 2>&1 || useradd --create-home "$user"
home=$(getent passwd "$user" | cut -d: -f 6)
cp -r "$tiny" "$home/tiny"
cp "$KILN" "$archspec" "$home"
mkdir -m 700 "$home/runtime"
chown -R "$user:" "$home"
round_state=$home/state round rootless setpriv --reuid="$user" --regid="$user" --init-groups env -i PATH="$PATH" HOME="$home" \
  XDG_RUNTIME_DIR="$home/runtime" KILN_ARCHSPEC="$home/microarchitectures.json" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
  "$home/kiln" -C "$home" build -f tiny/tiny.json --state "$home/state"

# The other direction: a tool that writes down the time. The bits differ, and the report names the file and the step.
cp -r "$tiny" restless
echo 'date +%s%N >/opt/kiln/hello/stamp' >>restless/recipes/framework/hello/distro.sh
for name in one two; do
  expect 0 "$KILN" build -f restless/tiny.json --state "$name" version=2.1 library=none compiler=none method=distro --format json
done
layout_of() { find "$1/images/hello" -mindepth 1 -maxdepth 1 -type d -print -quit; }
expect 1 "$KILN" diff "oci:$(layout_of one)" "oci:$(layout_of two)" --exit-code
holds "$out" /opt/kiln/hello/stamp
holds "$out" content
holds "$out" "hello 2.1 (distro)"
expect 0 "$KILN" diff "oci:$(layout_of one)" "oci:$(layout_of two)" --format json
equals "$(json '[file["change"] for file in it["files"]]')" "['changed']"
equals "$(json 'it["configuration"]')" '[]'
expect 0 "$KILN" diff "oci:$(layout_of one)" "oci:$(layout_of one)" --exit-code
holds "$out" '0 of '
expect 2 "$KILN" diff "oci:$(layout_of one)" restless/tiny.json
holds "$err" 'is an image, but'
echo 'same bits: eleven rounds'
