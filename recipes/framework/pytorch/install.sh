#!/bin/sh -eu
# Installs the hash-checked wheel of PyTorch $KILN_VERSION into a virtual environment at $KILN_PREFIX: on a base with CUDA the one with CUDA.
/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
wheels() {
  pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "$1"
}
kind=cpu
[ "$KILN_BASE_NAME" != cuda ] || kind=gpu
case $KILN_VERSION in
  1.*) pip install --require-hashes --no-deps -r requirements-bootstrap.txt ;;
esac
wheels "requirements-$KILN_VERSION-$kind.txt"
# The project's wheels for CPUs are pinned alone, with what all of them need beside them.
if [ $kind = cpu ] && grep -q ' @ ' "requirements-$KILN_VERSION-$kind.txt"; then
  wheels requirements-common-py3.12.txt
fi
pip check
# The image is read-only where it runs, so byte code is made now; a package may carry files that are no Python 3, whose byte code nobody
# needs. Python 3.6 writes the source's time into it: the one that kiln gives the files, or it would never be used.
case $KILN_VERSION in
  1.*)
    find "$KILN_PREFIX/lib" -name '*.py' -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    "$KILN_PREFIX/bin/python3" -m compileall -q -j 0 "$KILN_PREFIX/lib" >/dev/null || true
    ;;
  *) "$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib" >/dev/null || true ;;
esac
rm -rf /root/.cache
