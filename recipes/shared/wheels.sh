#!/bin/sh -eu
# wheels.sh [PREFIX]: installs the hash-checked wheels of requirements-$KILN_VERSION.txt into the virtual environment at PREFIX (default:
# $KILN_PREFIX), which it makes if it is not there.
prefix=${1:-$KILN_PREFIX}
[ -x "$prefix/bin/python3" ] || /usr/bin/python3 -m venv "$prefix"
pip() {
  "$prefix/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
pip check
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it.
"$prefix/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$prefix/lib"
rm -rf /root/.cache
