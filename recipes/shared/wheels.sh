#!/bin/sh -eu
# Installs the hash-checked wheels of requirements-$KILN_VERSION.txt into a virtual environment at $KILN_PREFIX.
/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
pip check
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it.
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
rm -rf /root/.cache
