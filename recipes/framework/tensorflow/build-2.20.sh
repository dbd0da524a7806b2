#!/bin/sh -eu
# build.sh for TensorFlow 2.20: its wheel into /opt/kiln/wheels/tensorflow, compiled by Clang with the target's flags, and for its GPUs
# when it has any. Bazel fetches Python and CUDA by checksums that TensorFlow's own sources name.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends bash ca-certificates curl git lld-18 patch patchelf python3-dev unzip zip
python=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
work=$(mktemp -d)
cd "$work"
curl -fsSL --proto '=https' -o tensorflow.tar.gz "$KILN_SOURCE_URL"
echo "${KILN_SOURCE_CHECKSUM#sha256:}  tensorflow.tar.gz" | sha256sum -c --quiet -
tar -xzf tensorflow.tar.gz
cd "tensorflow-$KILN_VERSION"

# All that configure would ask for; it runs without input, so a question that is new becomes its default and no hang.
export PATH="/opt/kiln/bazel/bin:$PATH"
clang=/usr/lib/llvm-18/bin/clang
export PYTHON_BIN_PATH=/usr/bin/python3 USE_DEFAULT_PYTHON_LIB_PATH=1 TF_NEED_ROCM=0
export TF_SET_ANDROID_WORKSPACE=0 TF_CONFIGURE_IOS=0 CC_OPT_FLAGS=-Wno-sign-compare
if [ -n "$KILN_GPU_TARGETS" ]; then
  # 7.0;9.0+PTX as this TensorFlow writes it: machine code for each, PTX for the newest.
  architectures=$(echo "${KILN_CUDA_ARCHS%+PTX}" | tr -d . | sed 's/\([0-9a-z]*\)/sm_\1/; s/;\([0-9a-z]*\)/,sm_\1/g')
  HERMETIC_CUDA_COMPUTE_CAPABILITIES=$architectures,compute_${architectures##*sm_}
  export HERMETIC_CUDA_COMPUTE_CAPABILITIES TF_NEED_CUDA=1 TF_CUDA_CLANG=1 CLANG_CUDA_COMPILER_PATH="$clang"
else
  export TF_NEED_CUDA=0 TF_NEED_CLANG=1 CLANG_COMPILER_PATH="$clang"
fi
python3 configure.py </dev/null
sed -i '/-march=native/d' .tf_configure.bazelrc

# Else the wheel calls itself 2.20.0-dev0+selfbuilt.
set -- "--repo_env=HERMETIC_PYTHON_VERSION=$python" --repo_env=USE_PYWRAP_RULES=1 --repo_env=ML_WHEEL_TYPE=release
if [ -n "$KILN_GPU_TARGETS" ]; then
  # Clang compiles for the GPU, too: with `cuda` alone nvcc would, inside a toolchain that is Clang's. cuda_clang has a list of GPUs of its
  # own, so ours comes after it. lld refuses TensorFlow's version scripts otherwise (.bazelrc, the configurations of its releases).
  set -- "$@" --config=cuda_clang --config=cuda_wheel --repo_env=WHEEL_NAME=tensorflow "--repo_env=CC=$clang" \
    "--repo_env=BAZEL_COMPILER=$clang" "--repo_env=CLANG_CUDA_COMPILER_PATH=$clang" --linkopt=-Wl,--undefined-version \
    --copt=-Wno-error=unused-command-line-argument --copt=-Wno-error=array-parameter \
    "--repo_env=HERMETIC_CUDA_COMPUTE_CAPABILITIES=$HERMETIC_CUDA_COMPUTE_CAPABILITIES"
else
  set -- "$@" --repo_env=WHEEL_NAME=tensorflow_cpu
fi
# KILN_BAZEL_COPTS is a list of words.
# shellcheck disable=SC2086
bazel --output_user_root="$work/bazel" --batch build -c opt $KILN_BAZEL_COPTS --jobs="$KILN_JOBS" --verbose_failures --curses=no "$@" \
  //tensorflow/tools/pip_package:wheel
mkdir -p /opt/kiln/wheels/tensorflow
cp bazel-bin/tensorflow/tools/pip_package/wheel_house/*.whl /opt/kiln/wheels/tensorflow/
set -- /opt/kiln/wheels/tensorflow/*.whl
if [ $# -ne 1 ] || ! [ -f "$1" ]; then
  echo "build-2.20.sh: not one wheel but: $*" >&2
  exit 3
fi
