#!/bin/sh -eu
# Installs Debian's Python $KILN_VERSION.
case $KILN_VERSION in
  2.*) exec /bin/sh -eu "./distro-$KILN_VERSION.sh" ;; # no venv, and no pip
esac
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions python3 | sed -n 's/^Version: //p')
case $candidate in
  "$KILN_VERSION"[.-]*) ;;
  *) echo "distro.sh: this release has Python ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends python3 python3-venv
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
