#!/bin/sh -eu
# Installs what TorchInductor compiles with: g++, Python's headers, setuptools, and ATen's headers, which Debian's PyTorch
# keeps in a package of their own (wheels carry them).
export DEBIAN_FRONTEND=noninteractive
set -- g++ python3-dev python3-setuptools
if dpkg-query -W python3-torch >/dev/null 2>&1; then
  set -- "$@" libtorch-dev
fi
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
