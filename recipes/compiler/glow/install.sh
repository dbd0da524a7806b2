#!/bin/sh -eu
# Installs the libraries that torch_glow is linked with.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libgoogle-glog0v5 libllvm8 libpng16-16 libprotobuf10
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
