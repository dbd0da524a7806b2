#!/bin/sh -eu
# Makes the byte code of $KILN_PREFIX now: the image is read-only where it runs.
case $KILN_VERSION in
  1.*)
    # Python 3.6 writes the source's time into it: the one that kiln gives the files, or it would never be used.
    find "$KILN_PREFIX/lib" -name '*.py' -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    "$KILN_PREFIX/bin/python3" -m compileall -q -j 0 "$KILN_PREFIX/lib"
    ;;
  # Unchecked: the sources never change under it, and no time enters the image.
  *) "$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib" ;;
esac
