#!/bin/sh -eu
# Installs the distribution's package $KILN_FACT_PACKAGE in version $KILN_VERSION. The image's environment preloads the
# library by its soname, which the loader finds on every architecture.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions "$KILN_FACT_PACKAGE" | sed -n 's/^Version: //p')
case ${candidate#*:} in
  "$KILN_VERSION"[+-]*) ;;
  *) echo "debian-package.sh: this release has $KILN_FACT_PACKAGE ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$KILN_FACT_PACKAGE"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
