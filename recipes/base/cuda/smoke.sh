#!/bin/sh -eu
# CUDA is the version asked for, as is nvcc where it is to be, the loader finds CUDA's and cuDNN's libraries, and no stub of the driver shadows the real one.
[ -d "/usr/local/cuda-$KILN_FACT_CUDA" ] || { echo "there is no /usr/local/cuda-$KILN_FACT_CUDA" >&2; exit 1; }
if [ "$KILN_FACT_FLAVOUR" = devel ]; then
  found=$(/usr/local/cuda/bin/nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  [ "$found" = "$KILN_FACT_CUDA" ] || { echo "nvcc is $found, not $KILN_FACT_CUDA" >&2; exit 1; }
fi
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
echo "CUDA $KILN_FACT_CUDA ($KILN_FACT_FLAVOUR) with cuDNN 7"
