#!/bin/sh -eu
# Installs JAX $KILN_VERSION from hash-checked wheels into a virtual environment at $KILN_PREFIX, with the plugin for the base's GPUs.
plugin=
case $KILN_BASE_NAME in
  cuda) plugin=-cuda${KILN_BASE_VERSION%%.*} ;;
  rocm) plugin=-rocm${KILN_BASE_VERSION%%.*} ;;
esac
/usr/bin/python3 -m venv "$KILN_PREFIX"
"$KILN_PREFIX/bin/pip" install --quiet --require-hashes --only-binary :all: --no-deps --no-cache-dir --no-compile \
  --root-user-action=ignore -r "requirements-$KILN_VERSION$plugin.txt"
"$KILN_PREFIX/bin/pip" check
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it, and no
# time stamp enters the image.
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
rm -rf /root/.cache
