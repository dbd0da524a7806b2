#!/bin/sh -eu
# Builds Python $KILN_VERSION into $KILN_PREFIX from the distribution's source package, as recipes/library/openblas does it.
export DEBIAN_FRONTEND=noninteractive
work=/tmp/kiln-cpython # the same each time: compilers are told it
mkdir "$work"
trap 'rm -rf "$work"' EXIT

list='' parts=''
eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
mkdir "$work/lists"
for file in "$list" "$parts"/*; do
  name=$work/lists/$(basename "$file")
  case $file in
    *.sources) sed 's/^Types:.*/Types: deb deb-src/' "$file" >"$name" ;;
    *.list) sed -n 's/^deb /deb-src /p; /^deb /p' "$file" >"$name" ;;
  esac
done
{
  [ -z "${APT_CONFIG:-}" ] || cat "$APT_CONFIG"
  echo "Dir::Etc::SourceList \"/dev/null\"; Dir::Etc::SourceParts \"$work/lists\";"
} >"$work/apt.conf"
export APT_CONFIG="$work/apt.conf"
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ccache dpkg-dev libffi-dev libssl-dev zlib1g-dev
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
export PATH="/usr/lib/ccache:$PATH"
cd "$work"
found=$(apt-cache showsrc --only-source python3.13 | sed -n "s/^Version: \(${KILN_VERSION}[+-].*\)/\1/p" | head -n 1)
[ -n "$found" ] || { echo "source.sh: this release has no source package of Python $KILN_VERSION" >&2; exit 3; }
apt-get source -qq --download-only -o APT::Sandbox::User=root "python3.13=$found"
dpkg-source --skip-patches -x python3.13_*.dsc source
cd source
./configure --prefix="$KILN_PREFIX" --without-ensurepip --disable-test-modules CC=gcc CFLAGS="$CFLAGS" >configure.log 2>&1 || { tail -n 40 configure.log; exit 1; }
make -j"$KILN_JOBS" >make.log 2>&1 || { tail -n 40 make.log; exit 1; }
make install >install.log 2>&1 || { tail -n 40 install.log; exit 1; }
