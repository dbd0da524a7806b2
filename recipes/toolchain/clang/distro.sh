#!/bin/sh -eu
# Installs the distribution's Clang and LLVM $KILN_VERSION, with the C++ library that Clang compiles against.
export DEBIAN_FRONTEND=noninteractive
major=${KILN_VERSION%%.*}
apt-get update -qq
candidate=$(apt-cache show --no-all-versions "clang-$major" | sed -n 's/^Version: //p')
candidate=${candidate#*:}
case $candidate in
  "$KILN_VERSION"[.~-]*) ;;
  # Ubuntu 18.04 counts its LLVM 8 by the major alone, 1:8-3~ubuntu18.04.2; smoke.sh asks the compiler itself.
  "$major"[~-]*) ;;
  *) echo "distro.sh: this release has clang-$major ${candidate:-nowhere}, not $KILN_VERSION" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "clang-$major" "llvm-$major-dev" g++ libc6-dev
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
