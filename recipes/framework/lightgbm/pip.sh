#!/bin/sh -eu
# Installs LightGBM $KILN_VERSION from its wheel, and GNU's OpenMP, which the wheel does not bring.
/bin/sh -eu ./wheels.sh
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libgomp1
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
