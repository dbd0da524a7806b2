#!/bin/sh -eu
# The release is the one asked for, apt works on its own package database, and nothing of the build machine stayed behind.
. /etc/os-release
[ "$VERSION_CODENAME" = "$KILN_VERSION" ] || { echo "this is $VERSION_CODENAME, not $KILN_VERSION" >&2; exit 1; }
dpkg --audit
apt-get check -qq
[ -s /etc/ssl/certs/ca-certificates.crt ]
echo "$PRETTY_NAME, $(dpkg-query -W | wc -l) packages"
