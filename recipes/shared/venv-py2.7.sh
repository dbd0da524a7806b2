#!/bin/sh -eu
# Installs the hash-checked requirements file $1 into a virtual environment of Python 2.7 at $KILN_PREFIX.
/usr/bin/python2.7 -m virtualenv --quiet --no-download "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python2.7" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
# What comes as source is pure Python, and is built with the setuptools that virtualenv brings.
pip install --require-hashes --no-deps --no-build-isolation --no-compile -r "$1"
pip check
# The image is read-only where it runs, so byte code is made now. Python 2.7 writes the source's time into it: the one that kiln gives the
# files, or it would never be used. Some packages carry files for Python 3 alone, which do not compile, and nobody imports them here.
find "$KILN_PREFIX/lib" -name '*.py[co]' -delete
find "$KILN_PREFIX/lib" -name '*.py' -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
"$KILN_PREFIX/bin/python2.7" -m compileall -q "$KILN_PREFIX/lib/python2.7/site-packages" >&2 || echo "venv-py2.7.sh: not all of it is for Python 2" >&2
rm -rf /root/.cache
