#!/bin/sh -eu
# Writes a minimal Debian (suite $KILN_FACT_SUITE) as tar to $KILN_OUTPUT. Runs on the build host, as root or as a user
# with subordinate ids; needs mmdebstrap. By hand, in this folder:
#   KILN_FACT_SUITE=trixie KILN_CPU_FAMILY=x86_64 KILN_OUTPUT=/tmp/trixie.tar sh -eu rootfs.sh
# A family other than the build host's needs QEMU's user emulation registered there (binfmt_misc); mmdebstrap says so itself.
# With KILN_ARCHIVE, which a lockfile sets, the archives must hold exactly what they held then.
suite=$KILN_FACT_SUITE
case $KILN_CPU_FAMILY in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  ppc64le) architecture=ppc64el ;;
  *) echo "rootfs.sh: Debian $suite has no architecture for $KILN_CPU_FAMILY" >&2; exit 3 ;;
esac

for tool in mmdebstrap apt-get apt-config; do
  command -v "$tool" >/dev/null || { echo "rootfs.sh: $tool is missing; ci/setup installs it" >&2; exit 5; }
done

if [ -n "${KILN_ARCHIVE:-}" ]; then
  now=$(/bin/sh -eu ./archive.sh)
  if [ "$now" != "$KILN_ARCHIVE" ]; then
    echo "rootfs.sh: the lockfile has the archives at: $KILN_ARCHIVE" >&2
    echo "rootfs.sh: they moved on: kiln lock --update debian takes them at: $now" >&2
    exit 1
  fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# How this machine reaches its packages, in a folder that no image has. Keys stay where they are: apt reads them as a user of its own.
/bin/sh -eu ./package-sources.sh "$suite" "$work" >"$work/kiln.sources"
mkdir "$work/site"
KILN_OUTPUT="$work/site" /bin/sh -eu ./site.sh
sed "s|/run/kiln/site/base/|$work/site/|; /SourceList/d" "$work/site/apt.conf" >"$work/acquire.conf"
apt-config dump --format '%F "%v";%n' Acquire | grep '::CaInfo ' >>"$work/acquire.conf" || true

# What the image has instead.
for archive in "debian $suite" "debian $suite-updates" "debian-security $suite-security"; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$archive main"
done >"$work/sources.list"

# `$1` is for mmdebstrap to fill in.
# shellcheck disable=SC2016
mmdebstrap --format=tar --variant=minbase --architectures="$architecture" --include=ca-certificates \
  --aptopt="$work/acquire.conf" \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --customize-hook='rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap "$1"/etc/apt/sources.list.d/*' \
  --customize-hook="cp '$work/sources.list' \"\$1/etc/apt/sources.list\"" \
  --customize-hook='rm -f "$1/etc/hostname" "$1/etc/resolv.conf"' \
  --customize-hook='rm -rf "$1"/var/log/*.log "$1"/var/log/apt "$1"/var/cache/debconf/*-old "$1/var/cache/ldconfig/aux-cache"' \
  "$suite" "$KILN_OUTPUT" "$work/kiln.sources"
