#!/bin/sh -eu
# Adds the certificates that downloads over TLS are checked with, which the published image lacks, and KILN_FACT_PACKAGES of NVIDIA's
# archive, which it knows.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# A list of packages.
# shellcheck disable=SC2086
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ca-certificates $KILN_FACT_PACKAGES
case $KILN_FACT_PACKAGES in
  *cuda-cupti*)
    echo /usr/local/cuda/extras/CUPTI/lib64 >/etc/ld.so.conf.d/kiln-cupti.conf
    ldconfig
    ;;
esac
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
