#!/bin/sh -eu
# wheel.sh CMAKE-ARGUMENT…: makes the wheel of llama-cpp-python $KILN_VERSION, with llama.cpp inside, in /opt/kiln/wheels/llama-cpp-python,
# from the project's own source archive: the package index has no wheel.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ccache cmake ninja-build
# ggml's CMake files put ccache before the compilers where they find it; it keeps nothing where nobody gives it a folder.
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
work=/tmp/kiln-llama # the same each time: compilers are told it
mkdir "$work"
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
pip() {
  TMPDIR="$work" "$work/venv/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: -r requirements-build.txt
# pip would unpack it to a folder with a random name, which the compiler cache would take for other sources.
pip download --require-hashes --no-deps --no-build-isolation --no-binary :all: --dest "$work" -r "requirements-$KILN_VERSION-source.txt"
mkdir "$work/source"
tar -xzf "$work"/llama_cpp_python-*.tar.gz --strip-components 1 -C "$work/source"

# No workload calls LLaVA's library, which takes as long as all others. scikit-build-core reads CMake's arguments separated by semicolons.
arguments=$(printf '%s;' "$@" -DLLAVA_BUILD=OFF -DGGML_CCACHE=ON -DCMAKE_BUILD_TYPE=Release)
export SKBUILD_CMAKE_ARGS="$arguments" SKBUILD_BUILD_DIR="$work/build" CMAKE_BUILD_PARALLEL_LEVEL="$KILN_JOBS" PATH="$work/venv/bin:$PATH"
pip wheel --no-deps --no-build-isolation --wheel-dir /opt/kiln/wheels/llama-cpp-python "$work/source"
