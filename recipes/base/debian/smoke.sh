#!/bin/sh -eu
# The release is the one asked for, apt works on its own package database, and nothing of the build machine stayed behind.
# shellcheck source=/dev/null
. /etc/os-release
[ "$VERSION_CODENAME" = "$KILN_VERSION" ] || { echo "this is $VERSION_CODENAME, not $KILN_VERSION" >&2; exit 1; }
case $KILN_CPU_FAMILY in
  aarch64) architecture=arm64 ;;
  ppc64le) architecture=ppc64el ;;
  *) architecture=amd64 ;;
esac
[ "$(dpkg --print-architecture)" = "$architecture" ] || { echo "this is for $(dpkg --print-architecture), not $architecture" >&2; exit 1; }
dpkg --audit
apt-get check -qq
[ -s /etc/ssl/certs/ca-certificates.crt ]
if grep -v ' http://deb\.debian\.org/' /etc/apt/sources.list; then
  echo "a source of the build machine in /etc/apt/sources.list" >&2
  exit 1
fi
if apt-config dump Acquire | grep -E '::(Proxy|Check-Valid-Until|Check-Date|Verify-Peer|Verify-Host)'; then
  echo "a setting of the build machine in apt's configuration" >&2
  exit 1
fi
echo "$PRETTY_NAME, $(dpkg-query -W | wc -l) packages"
