#!/bin/sh -eu
# Installs PyTorch $KILN_VERSION into a virtual environment at $KILN_PREFIX: the hash-checked wheel, or the one that the build stage made.
/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps -r requirements-bootstrap.txt
if [ "$KILN_METHOD" = source ]; then
  pip install --require-hashes --no-deps --no-build-isolation --no-compile -r requirements-build.txt
  pip install --no-index --no-deps --no-compile /opt/kiln/wheels/pytorch/*.whl
  pip uninstall --yes cmake ninja
  rm -rf /opt/kiln/wheels/pytorch
  rmdir --ignore-fail-on-non-empty /opt/kiln/wheels
  # The OpenMP library that the wheel was linked with.
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libgomp1 libopenblas-base
  apt-get clean
  rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
else
  [ -n "$KILN_GPU_TARGETS" ] || { echo "install.sh: the wheel is for GPUs, and the target has none" >&2; exit 3; }
  pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION-gpu.txt"
fi
pip check
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 "$KILN_PREFIX/lib" >/dev/null || true # some packages carry Python 2 files
rm -rf /root/.cache
