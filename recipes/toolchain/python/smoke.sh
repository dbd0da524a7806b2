#!/bin/sh -eu
# The version is the one asked for, TLS has certificates, and virtual environments with pip can be made without network.
case $KILN_VERSION in
  2.*) python=/usr/bin/python$KILN_VERSION ;;
  *) python=/usr/bin/python3 ;;
esac
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ "$version" = "$KILN_VERSION" ] || { echo "$python is $version, not $KILN_VERSION" >&2; exit 1; }
trial=$(mktemp -d)
case $KILN_VERSION in
  2.*)
    # Its OpenSSL has a folder of certificates, of which it reads the one that it is asked for.
    "$python" -c 'import os, ssl; assert os.listdir(ssl.get_default_verify_paths().capath), "no certificates"'
    if command -v python3 >/dev/null; then echo "there is a python3, which is another Python than the image's" >&2; exit 1; fi
    "$python" -m virtualenv --quiet --no-download "$trial/venv"
    "$trial/venv/bin/python$KILN_VERSION" -m pip --version >/dev/null
    "$trial/venv/bin/python$KILN_VERSION" -c 'import sys; assert sys.prefix != sys.real_prefix'
    ;;
  *)
    "$python" -c 'import ssl; assert ssl.create_default_context().get_ca_certs(), "no certificates"'
    # Every image has this test, so pip is asked for its version and not installed.
    "$python" -m ensurepip --version >/dev/null
    "$python" -m venv --without-pip "$trial/venv"
    "$trial/venv/bin/python3" -c 'import sys; assert sys.prefix != sys.base_prefix'
    ;;
esac
rm -rf "$trial"
echo "Python $version with virtual environments and pip"
