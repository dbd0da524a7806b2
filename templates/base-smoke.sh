#!/bin/sh -eu
# Checks that the image has the requested release and a complete package database.
# shellcheck source=/dev/null
. /etc/os-release
[ "$VERSION_ID" = "$KILN_VERSION" ] || { echo "this is $VERSION_ID, not $KILN_VERSION" >&2; exit 1; }
dpkg --audit
echo "$PRETTY_NAME"
