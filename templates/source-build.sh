#!/bin/sh -eu
# Compiles {{name}} $KILN_VERSION from its source archive into $KILN_PREFIX, with the target's flags.
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ca-certificates curl
work="/tmp/kiln-{{name}}" # the same each time: compilers may write its name into what they make
mkdir "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"
curl -fsSL --proto '=https' -o archive "$KILN_SOURCE_URL"
echo "${KILN_SOURCE_CHECKSUM#sha256:}  archive" | sha256sum -c --quiet -
mkdir source
tar -xf archive -C source --strip-components 1
cd source
echo "compiling {{name}} $KILN_VERSION with $CFLAGS"
# The project's own build comes here.
make -j"$KILN_JOBS" CFLAGS="$CFLAGS" CXXFLAGS="$CXXFLAGS"
make install PREFIX="$KILN_PREFIX"
