#!/bin/sh -eu
# The version is the one asked for, TLS works, and a virtual environment with pip can be made without network.
version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ "$version" = "$KILN_VERSION" ] || { echo "python3 is $version, not $KILN_VERSION" >&2; exit 1; }
/usr/bin/python3 -c 'import ssl; assert ssl.create_default_context().get_ca_certs(), "no certificates"'
trial=$(mktemp -d)
/usr/bin/python3 -m venv "$trial/venv"
"$trial/venv/bin/pip" --version >/dev/null
rm -rf "$trial"
echo "Python $version with venv and pip"
