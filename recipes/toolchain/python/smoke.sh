#!/bin/sh -eu
# The version is the one asked for, TLS has certificates, and virtual environments with pip can be made without network.
version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ "$version" = "$KILN_VERSION" ] || { echo "python3 is $version, not $KILN_VERSION" >&2; exit 1; }
/usr/bin/python3 -c 'import ssl; assert ssl.create_default_context().get_ca_certs(), "no certificates"'
# Every image has this test, so pip is asked for its version and not installed.
/usr/bin/python3 -m ensurepip --version >/dev/null
trial=$(mktemp -d)
/usr/bin/python3 -m venv --without-pip "$trial/venv"
"$trial/venv/bin/python3" -c 'import sys; assert sys.prefix != sys.base_prefix'
rm -rf "$trial"
echo "Python $version with venv and pip"
