#!/bin/sh -eu
# Installs {{name}} $KILN_VERSION from hash-checked wheels into a virtual environment at $KILN_PREFIX.
/usr/bin/python3 -m venv "$KILN_PREFIX"
"$KILN_PREFIX/bin/pip" install --quiet --require-hashes --only-binary :all: --no-deps --no-cache-dir --no-compile \
  --root-user-action=ignore -r "requirements-$KILN_VERSION.txt"
"$KILN_PREFIX/bin/pip" check
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it, and no
# time stamp enters the image.
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
rm -rf /root/.cache
