#!/bin/sh -eu
# The release is the one asked for, and its package database is whole.
# shellcheck source=/dev/null
. /etc/os-release
[ "$VERSION_ID" = "$KILN_VERSION" ] || { echo "this is $VERSION_ID, not $KILN_VERSION" >&2; exit 1; }
dpkg --audit
echo "$PRETTY_NAME"
