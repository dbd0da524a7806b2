#!/bin/sh -eu
# The release is the one asked for, apt works on its own package database, and there are certificates.
# shellcheck source=/dev/null
. /etc/os-release
[ "$VERSION_ID" = "$KILN_VERSION" ] || { echo "this is $VERSION_ID, not $KILN_VERSION" >&2; exit 1; }
dpkg --audit
apt-get check -qq
[ -s /etc/ssl/certs/ca-certificates.crt ]
echo "$PRETTY_NAME, $(dpkg-query -W | wc -l) packages"
