#!/bin/sh -eu
# Installs the hash-checked wheel of PyTorch $KILN_VERSION into a virtual environment at $KILN_PREFIX: on a base with CUDA the one with CUDA.
if [ -e "requirements-$KILN_VERSION-py2.7.txt" ]; then exec /bin/sh -eu ./venv-py2.7.sh "requirements-$KILN_VERSION-py2.7.txt"; fi
/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
wheels() {
  pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "$1"
}
kind=cpu
[ "$KILN_BASE_NAME" != cuda ] || kind=gpu
wanted=requirements-$KILN_VERSION-$kind.txt
case $KILN_VERSION in
  1.*)
    wanted=requirements-$KILN_VERSION.txt # one wheel for both
    pip install --require-hashes --no-deps -r requirements-bootstrap.txt
    ;;
esac
wheels "$wanted"
# The project's wheels for CPUs are pinned alone, with what all of them need beside them.
if [ $kind = cpu ] && grep -q ' @ ' "$wanted"; then
  wheels requirements-common-py3.12.txt
fi
pip check
/bin/sh -eu ./byte-code.sh
rm -rf /root/.cache
