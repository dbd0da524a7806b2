#!/bin/sh -eu
# Installs the wheel of llama-cpp-python $KILN_VERSION that the build stage made into a virtual environment at $KILN_PREFIX, with what it
# needs from hash-checked wheels, and gguf, which reads and writes model files. NumPy is its wheel, as pip takes it, in the project's own
# build; in a build for a target it is Debian's, because the wheel's code needs x86-64-v2.

# ggml's threads are OpenMP's; the wheel names its C++ library, too.
set -- libgomp1 libstdc++6
packages= # of the system, that the virtual environment sees
if [ "$KILN_METHOD" != pip ]; then
  set -- "$@" python3-numpy
  packages=--system-site-packages
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache

/usr/bin/python3 -m venv ${packages:+"$packages"} "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
set -- -r "requirements-$KILN_VERSION.txt"
[ "$KILN_METHOD" != pip ] || set -- "$@" -r "requirements-$KILN_VERSION-numpy.txt"
pip install --require-hashes --no-deps --only-binary :all: --no-compile "$@"
pip install --no-index --no-deps --no-compile /opt/kiln/wheels/llama-cpp-python/*.whl
pip check
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it.
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
rm -rf /root/.cache
