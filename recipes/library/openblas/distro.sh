#!/bin/sh -eu
# Installs Debian's OpenBLAS $KILN_VERSION. The OpenMP build shares its threads with PyTorch; the POSIX-threads build starts
# a second set that fights the first for the cores. Its alternative for libblas.so.3 and liblapack.so.3 has a higher
# priority than the reference library's, so whatever links those gets OpenBLAS.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions libopenblas0-openmp | sed -n 's/^Version: //p')
case $candidate in
  "$KILN_VERSION"[+-]*) ;;
  *) echo "distro.sh: this release has OpenBLAS ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libopenblas0-openmp
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
