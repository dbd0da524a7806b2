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

/bin/sh -eu ./package-sources.sh "$suite" "$work" >"$work/kiln.sources"

# How this machine's apt reaches its sources: proxies, checks, patience. Kept in the image, whose later steps need them.
apt-config dump --format '%F "%v";%n' Acquire |
  grep -E '^Acquire::([^ ]*::)?(Proxy[^ ]*|Check-Valid-Until|Check-Date|Verify-Peer|Verify-Host|CaInfo|Retries|Timeout) ' \
    >"$work/acquire.conf" || true

# Keys of a site's own mirror go where the sources say that they are. Debian's come with Debian.
keys=$(sed -n 's/^Signed-By: *//p' "$work/kiln.sources" | tr -s ', ' '\n' | grep '^/' | grep -v '/debian-archive-' | sort -u) || true
set --
for key in $keys; do
  set -- "$@" "--setup-hook=install -D -m 644 '$key' \"\$1$key\""
done

# `$1` is for mmdebstrap to fill in. CaInfo names a file of this machine; in the image the site's certificates are mounted at Debian's own place.
# shellcheck disable=SC2016
mmdebstrap --format=tar --variant=minbase --architectures="$architecture" --include=ca-certificates \
  --aptopt="$work/acquire.conf" \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  "$@" \
  --customize-hook='sed -i /CaInfo/d "$1/etc/apt/apt.conf.d/99mmdebstrap"' \
  --customize-hook='rm -f "$1/etc/hostname" "$1/etc/resolv.conf"' \
  --customize-hook='rm -rf "$1"/var/log/*.log "$1"/var/log/apt "$1"/var/cache/debconf/*-old "$1/var/cache/ldconfig/aux-cache"' \
  "$suite" "$KILN_OUTPUT" "$work/kiln.sources"
