#!/bin/sh -eu
# Installs Debian's Python $KILN_VERSION with virtualenv, which that Python cannot do without, and no Python 3: `python3` is never
# another Python than the one of an image's environment.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "python$KILN_VERSION" python-pip-whl=20.3.4-4+deb11u1
# Debian has no pip for this Python but as a wheel, which runs as it is; that of bullseye-security is for Python 3 alone. It is gone below.
set -- /usr/share/python-wheels/pip-20.3.4-*.whl
"/usr/bin/python$KILN_VERSION" "$1/pip" --quiet --no-cache-dir --disable-pip-version-check install --require-hashes --no-deps \
  --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
apt-get purge -qq -o Dpkg::Use-Pty=0 python-pip-whl
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache /root/.cache
