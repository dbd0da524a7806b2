#!/bin/sh -eu
# wheel.sh CMAKE-ARGUMENT…: makes the wheel of $KILN_NAME $KILN_VERSION in /opt/kiln/wheels/$KILN_NAME from the project's own source archive,
# which requirements-$KILN_VERSION-source.txt pins, by scikit-build-core with CMake.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ccache cmake ninja-build
# Compilers go through ccache, which keeps nothing where nobody gives it a folder.
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
work=/tmp/kiln-$KILN_NAME # the same each time: compilers are told it
mkdir "$work"
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
pip() {
  TMPDIR="$work" "$work/venv/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: -r requirements-scikit-build.txt
# pip would unpack it to a folder with a random name, which the compiler cache would take for other sources.
pip download --require-hashes --no-deps --no-build-isolation --no-binary :all: --dest "$work" -r "requirements-$KILN_VERSION-source.txt"
mkdir "$work/source"
tar -xzf "$work"/*.tar.gz --strip-components 1 -C "$work/source"

# scikit-build-core reads CMake's arguments separated by semicolons.
arguments=$(printf '%s;' "$@" -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_BUILD_TYPE=Release)
export SKBUILD_CMAKE_ARGS="$arguments" SKBUILD_BUILD_DIR="$work/build" CMAKE_BUILD_PARALLEL_LEVEL="$KILN_JOBS" PATH="$work/venv/bin:$PATH"
pip wheel --no-deps --no-build-isolation --wheel-dir "/opt/kiln/wheels/$KILN_NAME" "$work/source"
