#!/bin/sh -eu
# build.sh for PyTorch 2: the wheel of the pinned commit, with the target's CFLAGS and CXXFLAGS, and for its GPUs when it has any.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ca-certificates ccache git libopenblas-dev python3-dev
# PyTorch's CMake files put ccache before the compilers where they find it; it keeps nothing where nobody gives it a folder.
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
work=/tmp/kiln-pytorch # the same each time: compilers are told it
mkdir "$work"
/usr/bin/python3 -m venv "$work/venv"
python=$("$work/venv/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
"$work/venv/bin/python3" -m pip --quiet --no-cache-dir install --require-hashes --no-deps --only-binary :all: \
  -r "requirements-build-py$python.txt"

# The archives of the tags lack the submodules; the commit names theirs.
git init -q "$work/pytorch"
cd "$work/pytorch"
git fetch -q --depth 1 "$KILN_SOURCE_URL" "${KILN_SOURCE_CHECKSUM#git:}"
git checkout -q FETCH_HEAD
git submodule --quiet update --init --recursive --depth 1

export PATH="$work/venv/bin:$PATH" MAX_JOBS="$KILN_JOBS" PYTORCH_BUILD_VERSION="$KILN_VERSION" PYTORCH_BUILD_NUMBER=0
export BUILD_TEST=0 USE_DISTRIBUTED=1 USE_MPI=0 USE_NUMA=0 USE_ROCM=0 USE_XPU=0 USE_MKLDNN=1 BLAS=OpenBLAS CFLAGS CXXFLAGS
# x86 only.
if [ "$KILN_CPU_FAMILY" = x86_64 ]; then export USE_FBGEMM=1; else export USE_FBGEMM=0; fi
case $KILN_GPU_TARGETS in
gfx*)
  # Upstream's README: the sources are translated first. RCCL and MIOpen are the base's.
  PYTORCH_ROCM_ARCH=$(echo "$KILN_GPU_TARGETS" | tr ' ' ';')
  export PYTORCH_ROCM_ARCH ROCM_PATH=/opt/rocm USE_ROCM=1 USE_CUDA=0 USE_NCCL=1
  python3 tools/amd_build/build_amd.py
  ;;
sm_*)
  export USE_CUDA=1 USE_CUDNN=1 USE_NCCL=1 USE_SYSTEM_NCCL=1 CUDA_HOME=/usr/local/cuda TORCH_CUDA_ARCH_LIST="$KILN_CUDA_ARCHS"
  export TORCH_NVCC_FLAGS="-Xfatbin -compress-all" USE_CUSPARSELT=0 USE_CUFILE=0 USE_FLASH_ATTENTION=1
  # No driver here: its stub is linked against in this stage only.
  export LIBRARY_PATH=/usr/local/cuda/lib64/stubs
  ;;
*) export USE_CUDA=0 USE_CUDNN=0 USE_NCCL=0 ;;
esac
python3 -m pip --no-cache-dir wheel --no-build-isolation --no-deps --wheel-dir /opt/kiln/wheels/pytorch .
set -- /opt/kiln/wheels/pytorch/*.whl
if [ $# -ne 1 ] || ! [ -f "$1" ]; then
  echo "build-2.sh: not one wheel but: $*" >&2
  exit 3
fi
