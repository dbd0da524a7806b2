#!/bin/sh -eu
# Installs the distribution's GCC $KILN_VERSION with C++ and make.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
major=${KILN_VERSION%%.*}
candidate=$(apt-cache show --no-all-versions "gcc-$major" | sed -n 's/^Version: //p')
case $candidate in
  "$KILN_VERSION"[.-]*) ;;
  *) echo "distro.sh: this release has gcc-$major ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends gcc g++ libc6-dev make
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
