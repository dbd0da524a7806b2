#!/bin/sh -eu
# Installs TensorFlow $KILN_VERSION into a virtual environment at $KILN_PREFIX: the hash-checked wheel for the base, or the one that
# the build stage made.
if [ -e "requirements-$KILN_VERSION-py2.7.txt" ]; then exec /bin/sh -eu ./venv-py2.7.sh "requirements-$KILN_VERSION-py2.7.txt"; fi
/usr/bin/python3 -m venv "$KILN_PREFIX"
python=$("$KILN_PREFIX/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
kind=cpu
[ "$KILN_BASE_NAME" != cuda ] || kind=gpu
case $KILN_METHOD/$KILN_VERSION in
  */1.* | */2.1.*)
    pip install --require-hashes --no-deps -r requirements-bootstrap.txt
    # Without isolation, the two that come as source are built with the setuptools pinned above.
    pip install --require-hashes --no-deps --no-build-isolation --no-compile -r "requirements-$KILN_VERSION.txt"
    [ "$KILN_METHOD" = source ] || pip install --require-hashes --no-deps --no-compile -r "requirements-$KILN_VERSION-$kind.txt"
    ;;
  pip/*) pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION-$kind.txt" ;;
  source/*) pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION-source-$kind.txt" ;;
esac
[ "$KILN_METHOD" != source ] || pip install --no-index --no-deps --no-compile /opt/kiln/wheels/tensorflow/*.whl
pip check
# The image is read-only where it runs, so byte code is made now. Python 3.6 writes the source's time into it: the one that kiln gives the
# files, or it would never be used.
case $python in
  3.6)
    find "$KILN_PREFIX/lib" -name '*.py' -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    "$KILN_PREFIX/bin/python3" -m compileall -q -j 0 "$KILN_PREFIX/lib"
    ;;
  *) "$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib" ;;
esac
rm -rf /root/.cache
