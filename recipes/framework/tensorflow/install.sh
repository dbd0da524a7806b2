#!/bin/sh -eu
# Installs TensorFlow $KILN_VERSION into a virtual environment at $KILN_PREFIX: the hash-checked wheel for the target, or the one that
# the build stage made.
/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps -r requirements-bootstrap.txt
# Without isolation, the two that come as source are built with the setuptools pinned above.
pip install --require-hashes --no-deps --no-build-isolation --no-compile -r "requirements-$KILN_VERSION.txt"
if [ "$KILN_METHOD" = source ]; then
  pip install --no-index --no-deps --no-compile /opt/kiln/wheels/tensorflow/*.whl
  rm -rf /opt/kiln/wheels/tensorflow
  rmdir --ignore-fail-on-non-empty /opt/kiln/wheels
else
  kind=cpu
  [ -z "$KILN_GPU_TARGETS" ] || kind=gpu
  pip install --require-hashes --no-deps --no-compile -r "requirements-$KILN_VERSION-$kind.txt"
fi
pip check
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 "$KILN_PREFIX/lib" >/dev/null || true # some packages carry Python 2 files
rm -rf /root/.cache
