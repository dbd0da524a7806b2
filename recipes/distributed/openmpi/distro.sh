#!/bin/sh -eu
# Installs the distribution's Open MPI $KILN_VERSION: its launcher and libraries, no compilers.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions openmpi-bin | sed -n 's/^Version: //p')
case $candidate in
  "$KILN_VERSION"[+-]*) ;;
  *) echo "distro.sh: this release has Open MPI ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends openmpi-bin
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
