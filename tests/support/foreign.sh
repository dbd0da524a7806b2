# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# Programs of other processors, which the kernel hands to QEMU. Sourced after script.sh.
#   in_own_mounts SCRIPT ARGUMENT…   runs the script again where binfmt_misc is mounted and nobody else sees it, one such script at a time
#   register ARCHITECTURE…           registers QEMU for aarch64, ppc64le, … as Debian's package does; what was not there before is taken out at the end
#   foreign_busybox DEBIAN FILE      Debian's static busybox of another architecture (arm64, ppc64el); kept in .cache from then on
handlers=/proc/sys/fs/binfmt_misc

# The mount is of this process and what it starts: without other mounts of it the kernel forgets the handlers with the last process.
in_own_mounts() {
  [ -z "${KILN_OWN_MOUNTS-}" ] || return 0
  [ "$(id -u)" = 0 ] || { echo 'SKIPPED: only root may register an emulator' && exit 77; }
  [ -d "$handlers" ] || { echo 'SKIPPED: the kernel has no binfmt_misc' && exit 77; }
  # The lock is flock's alone (--close): a server that outlived a killed test would keep the next one waiting for ever. The script ends with
  # flock, so that no two are at it.
  # shellcheck disable=SC2016 # for the inner shell
  KILN_OWN_MOUNTS=yes exec flock --close --timeout 900 --verbose /run/lock/kiln-binfmt setpriv --pdeathsig TERM unshare -m sh -c '
    mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || exit 77
    exec bash "$@"' sh "$@"
}

unregister() {
  [ ! -e "$handlers/qemu-$1" ] || echo -1 >"$handlers/qemu-$1"
}

register() {
  local architecture
  for architecture in "$@"; do
    [ ! -e "$handlers/qemu-$architecture" ] || continue
    cat "/usr/lib/binfmt.d/qemu-$architecture.conf" >"$handlers/register"
    at_exit "unregister $architecture"
  done
}

foreign_busybox() {
  local kept=$KILN_SOURCE/.cache/busybox-$1
  if [ ! -e "$kept" ]; then
    mmdebstrap --architectures="$1" --variant=extract --include=busybox-static --format=dir bookworm "foreign-$1" \
      'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main' >"foreign-$1.log" 2>&1 ||
      fail "no busybox of $1: $(tail -n 2 "foreign-$1.log")"
    mkdir -p "$KILN_SOURCE/.cache"
    cp "foreign-$1/bin/busybox" "$kept.$$"
    mv "$kept.$$" "$kept"
    rm -rf "foreign-$1"
  fi
  cp "$kept" "$2"
}
