#!/bin/sh -eu
# Installs Debian's OpenBLAS $KILN_VERSION (POSIX threads). Its alternative for libblas.so.3 and liblapack.so.3 has a higher
# priority than the reference library's, so whatever links those gets OpenBLAS.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions libopenblas0-pthread | sed -n 's/^Version: //p')
case $candidate in
  "$KILN_VERSION"[+-]*) ;;
  *) echo "distro.sh: this release has OpenBLAS ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libopenblas0-pthread
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
