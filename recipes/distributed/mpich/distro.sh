#!/bin/sh -eu
# Installs the distribution's MPICH $KILN_VERSION: its launcher and libraries, no compilers.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions mpich | sed -n 's/^Version: //p')
candidate=${candidate#*really}
case $candidate in
  "$KILN_VERSION"[+-]*) ;;
  *) echo "distro.sh: this release has MPICH ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends mpich
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
