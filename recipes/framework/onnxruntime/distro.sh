#!/bin/sh -eu
# Installs Debian's ONNX Runtime $KILN_VERSION.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions python3-onnxruntime | sed -n 's/^Version: //p')
case $candidate in
  "$KILN_VERSION"[+-]*) ;;
  *) echo "distro.sh: this release has ONNX Runtime ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends python3-onnxruntime
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
