#!/bin/sh -eu
# The loader gives OpenBLAS to a process that asks for libblas.so.3, and so it does to the frameworks in the image.
maps=$(LD_PRELOAD=libblas.so.3 cat /proc/self/maps)
case $maps in
  *openblas*) ;;
  *) echo "libblas.so.3 is not OpenBLAS" >&2; exit 1 ;;
esac
if command -v python3 >/dev/null; then
  exec python3 smoke.py
fi
echo "libblas.so.3 is OpenBLAS"
