#!/bin/sh -eu
# Builds Horovod into /opt/kiln/horovod/site against the image's own framework and MPI, and CUDA and NCCL on a base with CUDA.
# Every part is asked for by name, so one that cannot be built is an error and no silent omission.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
case $KILN_DISTRIBUTED_NAME in
  *openmpi*) set -- libopenmpi-dev ;;
  *mpich*) set -- libmpich-dev ;;
  *) echo "build.sh: no MPI in the image" >&2; exit 3 ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" python3-dev zlib1g-dev
python="/opt/kiln/$KILN_FRAMEWORK_NAME/bin/python3"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
"$python" -m pip --quiet --no-cache-dir install --require-hashes --no-deps --only-binary :all: -r "requirements-py$version.txt"

export HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1
case $KILN_FRAMEWORK_NAME in
  tensorflow) export HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_MXNET=1 ;;
  mxnet) export HOROVOD_WITH_MXNET=1 HOROVOD_WITHOUT_TENSORFLOW=1 ;;
  *) echo "build.sh: no part of Horovod for $KILN_FRAMEWORK_NAME" >&2; exit 3 ;;
esac
if [ "$KILN_BASE_NAME" = cuda ]; then
  export HOROVOD_GPU=CUDA HOROVOD_GPU_OPERATIONS=NCCL HOROVOD_CUDA_HOME=/usr/local/cuda
  HOROVOD_BUILD_CUDA_CC_LIST=$(echo "${KILN_CUDA_ARCHS%+PTX}" | tr -d . | tr ';' ,)
  export HOROVOD_BUILD_CUDA_CC_LIST
  # No driver here: its stub is linked against, and found by the framework's libraries, in this stage only.
  mkdir -p /tmp/stubs
  ln -sf /usr/local/cuda/lib64/stubs/libcuda.so /tmp/stubs/libcuda.so.1
  export LIBRARY_PATH=/usr/local/cuda/lib64/stubs LD_LIBRARY_PATH=/tmp/stubs
fi
export CFLAGS CXXFLAGS MAKEFLAGS="-j$KILN_JOBS" PATH="${python%/*}:$PATH"
wheels=$(mktemp -d)
"$python" -m pip --no-cache-dir wheel --require-hashes --no-deps --no-build-isolation --no-binary :all: \
  --wheel-dir "$wheels" -r "requirements-$KILN_VERSION.txt"
set -- "$wheels"/*.whl
if [ $# -ne 1 ] || ! [ -f "$1" ]; then
  echo "build.sh: not one wheel but: $*" >&2
  exit 3
fi
# What Horovod imports, and no more: the framework has the rest.
needed=$(mktemp)
awk '/^[a-z]/ {keep = /^(cloudpickle|psutil|pyyaml|packaging)==/} keep' "requirements-py$version.txt" >"$needed"
"$python" -m pip --quiet --no-cache-dir install --require-hashes --no-deps --no-compile --only-binary :all: --target /opt/kiln/horovod/site -r "$needed"
"$python" -m pip --quiet --no-cache-dir install --no-index --no-deps --no-compile --target /opt/kiln/horovod/site --upgrade "$1"
