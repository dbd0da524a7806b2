#!/usr/bin/env bash
# A state folder on a file system of its own, as sites share one: it goes away, fails and is full in the middle of a build; two machines
# build on it, whether they see each other's locks or not.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
if [ "$(id -u)" != 0 ] || ! command -v bindfs >/dev/null || [ ! -w /dev/fuse ] || [ ! -w /dev/loop-control ]; then
  echo 'SKIPPED: root, bindfs, /dev/fuse and loop devices are needed'
  exit 77
fi
# shellcheck source=tests/support/gate.sh
. "$KILN_SOURCE/tests/support/gate.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
gated tiny/recipes/framework/hello/distro.sh
cell=(version=2.1 library=none)
digests() { # digests STATE: one line an image: its tag and manifest
  "$KILN_PYTHON" -c 'import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/built/*.json")):
    record = json.load(open(path))
    print(record["tag"], record["manifest"])' "$1"
}
at_work() { pgrep -af "step --state $work/" || true; }
green() { # green STATE [OPTION…]: it is back, and the next build makes the same bits
  local state=$1
  shift
  open_gate
  expect 0 timeout 300 "$KILN" build -f "$matrix" --state "$state" "${cell[@]}" "$@"
  expect 0 "$KILN" --state "$state" index fsck --deep
  digests "$state" | diff "$work/local.digests" - || fail "other bits in $state"
}
open_gate
expect 0 "$KILN" build -f "$matrix" --state "$work/local" "${cell[@]}"
digests local >local.digests

# 1. A disk of its own that is taken away: kiln says so, writes nothing below the empty mount point, and goes on when it is back.
plug() { # loop devices are the whole machine's: another container may take the free one first
  for _ in $(seq 20); do
    if mount -o loop disk.img disk 2>mount.err; then return; fi
    sleep 0.5
  done
  fail "no loop device: $(cat mount.err)"
}
unplugged() { # a loop device outlives a lazy umount for a moment, and mount would take it again
  until [ -z "$(losetup --associated disk.img)" ]; do sleep 0.05; done
}
new_disk() { # new_disk SIZE
  umount disk 2>/dev/null || true
  unplugged
  truncate -s 0 disk.img
  truncate -s "$1" disk.img
  mkfs.ext4 -q disk.img
  plug
}
mkdir disk
new_disk 200M
start "$work/disk/state"
umount --lazy disk
open_gate
ended 8
holds "$err" "the state folder $work/disk/state is missing: its file system was unmounted, or its server is away"
equals "$(find disk)" disk
equals "$(at_work)" ''
unplugged
plug
green "$work/disk/state"

# 2. It fails, and the kernel lets nobody write any more; it is full.
rm -r disk/state
start "$work/disk/state"
mount -o remount,abort disk
open_gate
ended 8
holds "$err$out" 'Read-only file system'
equals "$(at_work)" ''
umount --lazy disk
unplugged
e2fsck -p disk.img >e2fsck.log 2>&1 || [ $? -le 1 ] || { cat e2fsck.log; fail 'the disk is damaged'; }
plug
green "$work/disk/state"
new_disk 60M
start "$work/disk/state"
dd if=/dev/zero of=disk/full bs=64k 2>/dev/null || true
dd if=/dev/zero of=disk/fuller bs=512 2>/dev/null || true
open_gate
ended 8
holds "$err$out" 'no space left'
equals "$(at_work)" ''
rm disk/full disk/fuller
green "$work/disk/state"
umount disk

# 3. A network file system, by FUSE: the engine's store is on each machine's own disk (`scratch`), or nothing could be built. Its server dies.
mkdir server mounted mounted2 scratch
echo "{\"scratch\": \"$work/scratch\", \"nightly\": {\"lease\": \"5s\"}}" >site.json
bindfs -f server mounted &
server=$!
until grep -q " $work/mounted " /proc/mounts; do sleep 0.05; done
start "$work/mounted/state" --site site.json
[ ! -e mounted/state/engine ] || fail 'the engine keeps its store in the shared folder'
kill -KILL "$server"
open_gate
ended 8
holds "$err" "the state folder $work/mounted/state is missing"
equals "$(at_work)" ''
umount --lazy mounted
bindfs server mounted
green "$work/mounted/state" --site site.json

# 4. Another machine on the same folder, with another host name. Where it sees the locks, and where it does not (bindfs' are each mount's
# own): the second is told who builds, and nothing is run twice.
other_machine() { # other_machine COMMAND…
  cat /proc/sys/kernel/random/uuid >boot_id
  # shellcheck disable=SC2016 # for the shell there
  unshare --uts --mount bash -c 'hostname elsewhere; mount --bind boot_id /proc/sys/kernel/random/boot_id; exec "$@"' bash "$@"
}
bindfs server mounted2
for place in local mounted2; do
  case $place in
    local) here=$work/twice ;;
    *) here=$work/mounted/twice ;;
  esac
  there=${here/mounted/mounted2}
  start "$here" --site site.json
  before=$(starts)
  expect 7 other_machine "$KILN" build -f "$matrix" --state "$there" --site site.json "${cell[@]}"
  holds "$err" "kiln build of tiny by process $build on $(hostname) since "
  other_machine "$KILN" build -f "$matrix" --state "$there" --site site.json "${cell[@]}" --wait >waited.out 2>waited.err &
  second=$!
  until grep -qs '^waiting for ' waited.err; do
    kill -0 "$second" || fail "it does not wait: $(cat waited.out waited.err)"
    sleep 0.1
  done
  open_gate
  ended 0
  wait "$second" || fail "the second: $(cat waited.out waited.err)"
  holds "$(cat waited.out)" 'nothing to do'
  equals "$(starts)" "$before"
done

# A kiln that is killed elsewhere is dead to those who do not see its lock when it was silent for long enough.
start "$work/mounted/dead" --site site.json
kill -KILL "$build"
ended 137
open_gate
status=0
other_machine "$KILN" build -f "$matrix" --state "$work/mounted2/dead" --site site.json "${cell[@]}" >dead.out 2>dead.err || status=$?
[ "$status" = 7 ] || [ "$status" = 0 ] || fail "$status: $(cat dead.err)"
expect 0 other_machine "$KILN" build -f "$matrix" --state "$work/mounted2/dead" --site site.json --wait "${cell[@]}"
digests mounted/dead | diff local.digests - || fail 'other bits'

# 5. doctor asks a node whether it sees the locks of this machine.
cat >launch.sh <<'SH'
#!/bin/bash
# launch.sh FROM TO COMMAND…: as on a machine that has the folder FROM at TO.
from=$1 to=$2
shift 2
exec "${@/$from/$to}"
SH
chmod +x launch.sh
echo "{\"launcher\": [\"$work/launch.sh\", \"$work/mounted/\", \"$work/mounted2/\"]}" >nodes.json
expect 5 "$KILN" doctor --node --state "$work/mounted/state" --site nodes.json
holds "$out" 'of each machine'
expect 0 "$KILN" doctor --node --state "$work/local" --site nodes.json
holds "$(grep '^locks ' <<<"$out")" 'of all machines'
echo "{\"launcher\": [\"$work/launch.sh\", \"$work/mounted/\", \"$work/nowhere/\"]}" >nodes.json
expect 5 "$KILN" doctor --node --state "$work/mounted/state" --site nodes.json
holds "$out" 'the state folder is another one here'
umount mounted mounted2
echo 'shared folder: ok'
