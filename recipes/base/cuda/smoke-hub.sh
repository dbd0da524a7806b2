#!/bin/sh -eu
# CUDA is the version asked for, its libraries are found, and no stub of the driver shadows the real one.
[ -d "/usr/local/cuda-$KILN_FACT_CUDA" ] || { echo "there is no /usr/local/cuda-$KILN_FACT_CUDA" >&2; exit 1; }
libraries=$(ldconfig -p)
has() {
  case $libraries in
    *"$1"*) ;;
    *) echo "the loader does not find $1" >&2; exit 1 ;;
  esac
}
has "libcudart.so.${KILN_FACT_CUDA%%.*}"
case $libraries in
  *stubs/libcuda.so*) echo "the stub of libcuda.so is on the loader's path" >&2; exit 1 ;;
esac
[ "$KILN_FACT_FLAVOUR" = base ] || has "libcudnn.so.$KILN_FACT_CUDNN"
case $KILN_FACT_PACKAGES in
  *cuda-cupti*) has libcupti.so ;;
esac
if [ "$KILN_FACT_FLAVOUR" = devel ]; then
  found=$(/usr/local/cuda/bin/nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  [ "$found" = "$KILN_FACT_CUDA" ] || { echo "nvcc is $found, not $KILN_FACT_CUDA" >&2; exit 1; }
  # It compiles: machine code and PTX for the newest GPU that it knows, in a program that links.
  trial=$(mktemp -d)
  printf '__global__ void one(float* x) { *x = 1; }\nint main() { return 0; }\n' >"$trial/one.cu"
  /usr/local/cuda/bin/nvcc "$trial/one.cu" -o "$trial/one"
  rm -rf "$trial"
fi
echo "CUDA $KILN_FACT_CUDA ($KILN_FACT_FLAVOUR)"
