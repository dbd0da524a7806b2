#!/bin/sh -eu
# Builds NumPy $KILN_VERSION into $KILN_PREFIX, with its own small LAPACK, for the processor that $CFLAGS name and no other (cpu-baseline=detect):
# a module for its tests that has code for all of them and asks none (numpy/_core/_simd) is left out.
export DEBIAN_FRONTEND=noninteractive
work=/tmp/kiln-numpy # the same each time: compilers are told it
mkdir "$work"
trap 'rm -rf "$work"' EXIT

apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ccache ninja-build python3-dev
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
export PATH="/usr/lib/ccache:$PATH" CC=gcc CXX=g++ TMPDIR="$work"
python3 -m venv "$work/tools"
export PATH="$work/tools/bin:$PATH"
pip --quiet --no-cache-dir install --require-hashes --no-deps --only-binary :all: -r requirements-build.txt
# pip builds in a folder of a random name, which compilers are told too: its archive is unpacked into one of ours. (To download it pip compiles
# it once, in such a folder, for its metadata.)
pip --no-cache-dir download --require-hashes --no-deps --no-build-isolation --no-binary :all: --dest "$work/archive" \
  -r "requirements-$KILN_VERSION.txt" >"$work/download.log" 2>&1 || { tail -n 40 "$work/download.log"; exit 1; }
mkdir "$work/source"
tar -xf "$work"/archive/numpy-*.tar.gz -C "$work/source" --strip-components 1
pip --no-cache-dir wheel --no-deps --no-build-isolation --wheel-dir "$work/wheels" -Cbuild-dir="$work/build" \
  -Csetup-args=-Dcpu-baseline=detect -Csetup-args=-Dcpu-dispatch=none \
  -Csetup-args=-Dallow-noblas=true -Csetup-args=-Dblas=none -Csetup-args=-Dlapack=none -Ccompile-args=-j"$KILN_JOBS" \
  "$work/source" >"$work/wheel.log" 2>&1 || { tail -n 40 "$work/wheel.log"; exit 1; }
pip --quiet install --no-index --no-deps --no-compile --target "$KILN_PREFIX" "$work"/wheels/*.whl
rm "$KILN_PREFIX"/numpy/_core/_simd.*.so
