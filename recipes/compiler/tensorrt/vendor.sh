#!/bin/sh -eu
# Installs TensorRT $KILN_VERSION's libraries from the archive that NVIDIA's image has among its apt sources, with its key.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "libnvinfer10=$KILN_FACT_PACKAGE" "libnvinfer-plugin10=$KILN_FACT_PACKAGE" \
  "libnvonnxparsers10=$KILN_FACT_PACKAGE"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
