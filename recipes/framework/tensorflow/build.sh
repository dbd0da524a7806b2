#!/bin/sh -eu
# Builds TensorFlow's wheel into /opt/kiln/wheels/tensorflow with the target's flags, and for its GPUs when it has any.
case $KILN_VERSION in
  2.1.*) ;;
  *) exec /bin/sh -eu ./build-2.20.sh ;; # other tools, other switches
esac
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends bash curl git patch python3-dev rsync unzip zip
work=$(mktemp -d)

/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/python3" -m pip --quiet --no-cache-dir install --require-hashes --no-deps -r requirements-bootstrap.txt
"$work/venv/bin/python3" -m pip --quiet --no-cache-dir install --require-hashes --no-deps --no-build-isolation \
  -r "requirements-$KILN_VERSION.txt"

cd "$work"
curl -fsSL --proto '=https' -o tensorflow.tar.gz "$KILN_SOURCE_URL"
echo "${KILN_SOURCE_CHECKSUM#sha256:}  tensorflow.tar.gz" | sha256sum -c --quiet -
tar -xzf tensorflow.tar.gz
cd "tensorflow-$KILN_VERSION"

# All that configure would ask for; it runs without input, so a question that is new becomes its default and no hang.
export PATH="$work/venv/bin:/opt/kiln/bazel/bin:$PATH"
export PYTHON_BIN_PATH="$work/venv/bin/python3" USE_DEFAULT_PYTHON_LIB_PATH=1
export TF_ENABLE_XLA=1 TF_NEED_OPENCL_SYCL=0 TF_NEED_ROCM=0 TF_NEED_MPI=0 TF_NEED_TENSORRT=0 TF_DOWNLOAD_CLANG=0
# Bazel makes its toolchain of it. CUDA 10.1 is compiled with GCC, and there is no Clang then.
if command -v clang-8 >/dev/null; then
  export CC=clang-8 CXX=clang++-8
fi
export TF_SET_ANDROID_WORKSPACE=0 TF_CONFIGURE_IOS=0 CC_OPT_FLAGS=-Wno-sign-compare GCC_HOST_COMPILER_PATH=/usr/bin/gcc
if [ -n "$KILN_GPU_TARGETS" ]; then
  # 6.1;7.0+PTX as TensorFlow writes it: 6.1,7.0. It always adds PTX.
  TF_CUDA_COMPUTE_CAPABILITIES=$(echo "${KILN_CUDA_ARCHS%+PTX}" | tr ';' ,)
  export TF_CUDA_COMPUTE_CAPABILITIES
  cuda=$(readlink /usr/local/cuda) # cuda-10.1
  export TF_NEED_CUDA=1 TF_CUDA_CLANG=0 TF_CUDA_VERSION="${cuda##*cuda-}" TF_CUDNN_VERSION=7 TF_CUDA_PATHS=/usr/local/cuda,/usr
else
  export TF_NEED_CUDA=0
fi
python3 configure.py </dev/null
# configure writes it for --config=opt, which is not used; nothing may read it by chance.
sed -i '/-march=native/d' .tf_configure.bazelrc

bazel() {
  # KILN_BAZEL_COPTS is a list of words.
  # shellcheck disable=SC2086
  command bazel --output_user_root="$work/bazel" --batch build -c opt --config=v2 $KILN_BAZEL_COPTS --jobs="$KILN_JOBS" \
    --verbose_failures --curses=no "$@"
}
bazel //tensorflow/tools/pip_package:build_pip_package
mkdir -p /opt/kiln/wheels/tensorflow
bazel-bin/tensorflow/tools/pip_package/build_pip_package /opt/kiln/wheels/tensorflow
set -- /opt/kiln/wheels/tensorflow/*.whl
if [ $# -ne 1 ] || ! [ -f "$1" ]; then
  echo "build.sh: not one wheel but: $*" >&2
  exit 3
fi
