#!/bin/sh -eu
# Installs the wheel of llama-cpp-python $KILN_VERSION that the build stage made into a virtual environment at $KILN_PREFIX, with what it
# needs from hash-checked wheels, and gguf, which reads and writes model files.
/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
pip install --no-index --no-deps --no-compile /opt/kiln/wheels/llama-cpp-python/*.whl
# ggml's threads are OpenMP's; the wheel names its C++ library, too.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libgomp1 libstdc++6
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
pip check
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it.
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
rm -rf /root/.cache
