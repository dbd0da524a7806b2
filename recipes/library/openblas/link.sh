#!/bin/sh -eu
# Makes $KILN_PREFIX/lib the first place where the loader looks, so that libblas.so.3 is this OpenBLAS for everything in the
# image.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libgomp1 libgfortran5
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log
echo "$KILN_PREFIX/lib" >/etc/ld.so.conf.d/000-kiln-openblas.conf
ldconfig
rm -rf /var/cache/ldconfig/aux-cache
