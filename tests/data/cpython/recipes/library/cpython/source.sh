#!/bin/sh -eu
# Builds Python $KILN_VERSION into $KILN_PREFIX from the distribution's source package, as recipes/library/openblas does it.
export DEBIAN_FRONTEND=noninteractive
work=/tmp/kiln-cpython # the same each time: compilers are told it
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# shellcheck source=recipes/shared/deb-source.sh
. ./deb-source.sh
deb_sources "$work"
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ccache dpkg-dev libffi-dev libssl-dev zlib1g-dev
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
export PATH="/usr/lib/ccache:$PATH"
cd "$work"
deb_source python3.13 "$KILN_VERSION"
cd source
./configure --prefix="$KILN_PREFIX" --without-ensurepip --disable-test-modules CC=gcc CFLAGS="$CFLAGS" >configure.log 2>&1 || { tail -n 40 configure.log; exit 1; }
make -j"$KILN_JOBS" >make.log 2>&1 || { tail -n 40 make.log; exit 1; }
make install >install.log 2>&1 || { tail -n 40 install.log; exit 1; }
