#!/bin/sh -eu
# nvcc is the version asked for, the loader finds CUDA's and cuDNN's libraries, and no stub of the driver shadows the real one.
found=$(/usr/local/cuda/bin/nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
[ "$found" = "$KILN_VERSION" ] || { echo "nvcc is $found, not $KILN_VERSION" >&2; exit 1; }
libraries=$(ldconfig -p)
for library in libcudart.so libcublas.so libcufft.so libcurand.so libcusolver.so libcusparse.so libcupti.so libcudnn.so.7; do
  case $libraries in
    *"$library"*) ;;
    *) echo "the loader does not find $library" >&2; exit 1 ;;
  esac
done
case $libraries in
  *stubs/libcuda.so*) echo "the stub of libcuda.so is on the loader's path" >&2; exit 1 ;;
esac
echo "CUDA $found with cuDNN 7"
