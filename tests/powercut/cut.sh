# shellcheck shell=bash disable=SC2034 # variables are for the scripts that source this
# A power cut without a machine to lose: the file system that kiln writes to lies in a file on btrfs, and a reflink of that file is what
# a disk would hold if the power went at that moment. The copy is mounted, as after the next start, and judged, while kiln writes on.
# Sourced with the private folder as $1. KILN is the program; KILN_CUTS how often, KILN_FILE_SYSTEMS on which, KILN_SEED decides the moments.
# Exit code 77: this machine cannot.
set -euo pipefail
RANDOM=${KILN_SEED:-1}
work=$1
cuts=${KILN_CUTS:-200}
read -ra file_systems <<<"${KILN_FILE_SYSTEMS:-ext4 xfs btrfs}"
unset KILN_FILE KILN_STATE KILN_SITE KILN_RECIPES KILN_JOBS

skip() {
  echo "skipped: $*"
  exit 77
}
[ "$(id -u)" = 0 ] || skip 'only root may mount'
command -v losetup mkfs.btrfs >/dev/null || skip 'no losetup or no mkfs.btrfs'
for kind in "${file_systems[@]}"; do
  command -v "mkfs.$kind" >/dev/null || skip "no mkfs.$kind"
done

umount_all() {
  for mount in after live outer; do
    mountpoint -q "$work/$mount" && { umount "$work/$mount" 2>/dev/null || umount -l "$work/$mount"; }
  done
  return 0
}
writer=
end() {
  if [ -n "$writer" ]; then
    kill -9 -- "-$writer" 2>/dev/null || true
    wait "$writer" 2>/dev/null || true
    sleep 1
  fi
  writer=
  umount_all
  rm -f "$work/outer.img"
}
trap end EXIT
umount_all 2>/dev/null || true
rm -rf "$work"
mkdir -p "$work"/{outer,live,after}
cd "$work"

# begin KIND SIZE: an empty file system of that kind and size at live/
begin() {
  kind=$1
  truncate -s $(($2 * 3 + 1024))M outer.img
  mkfs.btrfs -q -f outer.img >/dev/null
  mount -o loop,nodatasum outer.img outer 2>/dev/null || skip 'this kernel mounts no btrfs'
  truncate -s "$2M" outer/disk.img
  if [ "$kind" = btrfs ]; then mkfs.btrfs -q -f outer/disk.img >/dev/null; else "mkfs.$kind" -q outer/disk.img; fi
  mount -o loop outer/disk.img live 2>/dev/null || skip "this kernel mounts no $kind"
  : >acknowledged
}

# Waits until kiln has said for the first time that something is done.
wait_for_first() {
  for ((second = 0; second < 600; second++)); do
    [ ! -s acknowledged ] || return 0
    sleep 1
  done
  echo "FAILED: nothing was acknowledged in ten minutes" >&2
  exit 1
}

# start FUNCTION: runs it again and again; it adds a line to `acknowledged` when kiln has said that something is done
start() {
  set -m
  (
    set +e
    while :; do "$1"; done
  ) </dev/null >/dev/null 2>&1 &
  writer=$!
  set +m
}

# cut: the disk as it is now, mounted at after/; `acked`: the last line that was acknowledged before
cut() {
  acked=$(tail -n 1 acknowledged)
  cp --reflink=always outer/disk.img outer/cut.img
  local options=loop
  [ "$kind" = xfs ] && options=loop,nouuid
  mount -o "$options" outer/cut.img after 2>mount.err || skip "this kernel mounts no copy of $kind: $(cat mount.err)"
}
uncut() {
  umount after
  rm -f outer/cut.img
}
