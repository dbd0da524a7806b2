#!/bin/sh -eu
# Installs Debian's PyTorch $KILN_VERSION.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache show --no-all-versions python3-torch | sed -n 's/^Version: //p')
case $candidate in
  "$KILN_VERSION"[+-]*) ;;
  *) echo "distro.sh: this release has PyTorch ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends python3-torch
case $KILN_VERSION in
  1.*) ;;
  *)
    # Debian's build has no libuv, which torchrun's stores take unless they are told otherwise; they do not read USE_LIBUV.
    (
      cd /usr/lib/python3/dist-packages/torch/distributed
      sed -i '0,/return TCPStore($/s//return TCPStore(use_libuv=False,/' rendezvous.py
      sed -i 's/multi_tenant=True,$/multi_tenant=True, use_libuv=False,/' elastic/rendezvous/*.py
      changed=$(grep -l use_libuv=False rendezvous.py elastic/rendezvous/*.py | wc -l)
      [ "$changed" = 4 ] || { echo "distro.sh: $changed of torchrun's 4 stores were found" >&2; exit 3; }
    )
    ;;
esac
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
