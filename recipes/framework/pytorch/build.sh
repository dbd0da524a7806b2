#!/bin/sh -eu
# Builds PyTorch's wheel into /opt/kiln/wheels/pytorch from its pinned commit, with the target's CFLAGS and CXXFLAGS, and for its GPUs
# when it has any.
case $KILN_VERSION in
  1.*) ;;
  *) exec /bin/sh -eu ./build-2.sh ;; # other tools, other switches
esac
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends git libopenblas-dev python3-dev
# CUDA 10.1 is compiled with GCC, and there is no Clang then.
if command -v clang-8 >/dev/null; then
  apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libomp-8-dev
  export CC=clang-8 CXX=clang++-8
fi
work=$(mktemp -d)
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/python3" -m pip --quiet --no-cache-dir install --require-hashes --no-deps -r requirements-bootstrap.txt
"$work/venv/bin/python3" -m pip --quiet --no-cache-dir install --require-hashes --no-deps --no-build-isolation -r requirements-build.txt

# The archives of the tags lack the submodules; the commit names theirs.
git init -q "$work/pytorch"
cd "$work/pytorch"
git fetch -q --depth 1 "$KILN_SOURCE_URL" "${KILN_SOURCE_CHECKSUM#git:}"
git checkout -q FETCH_HEAD
git submodule --quiet update --init --recursive

export PATH="$work/venv/bin:$PATH" MAX_JOBS="$KILN_JOBS" PYTORCH_BUILD_VERSION="$KILN_VERSION" PYTORCH_BUILD_NUMBER=0
export BUILD_TEST=0 USE_DISTRIBUTED=1 USE_MPI=0 USE_NUMA=0 USE_ROCM=0 USE_MKLDNN=1 BLAS=OpenBLAS CFLAGS CXXFLAGS
if [ -n "$KILN_GPU_TARGETS" ]; then
  export USE_CUDA=1 USE_CUDNN=1 USE_NCCL=1 CUDA_HOME=/usr/local/cuda CUDNN_INCLUDE_DIR=/usr/include
  export CUDNN_LIB_DIR=/usr/lib/x86_64-linux-gnu TORCH_CUDA_ARCH_LIST="$KILN_CUDA_ARCHS" TORCH_NVCC_FLAGS="-Xfatbin -compress-all"
  # No driver here: its stub is linked against in this stage only.
  export LIBRARY_PATH=/usr/local/cuda/lib64/stubs
else
  export USE_CUDA=0 USE_CUDNN=0 USE_NCCL=0
fi
python3 setup.py --quiet bdist_wheel --dist-dir /opt/kiln/wheels/pytorch
set -- /opt/kiln/wheels/pytorch/*.whl
if [ $# -ne 1 ] || ! [ -f "$1" ]; then
  echo "build.sh: not one wheel but: $*" >&2
  exit 3
fi
