#!/bin/sh -eu
# Installs the wheel of XGBoost $KILN_VERSION that the build stage made into a virtual environment at $KILN_PREFIX, with NumPy and SciPy from
# hash-checked wheels, and GNU's OpenMP and C++ library, which the project's wheel carries.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libgomp1 libstdc++6
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache

/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION-needs.txt"
pip install --no-index --no-deps --no-compile /opt/kiln/wheels/xgboost/*.whl
pip check
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it.
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
rm -rf /root/.cache
