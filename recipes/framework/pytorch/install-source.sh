#!/bin/sh -eu
# Installs the wheel of PyTorch $KILN_VERSION that the build stage made into a virtual environment at $KILN_PREFIX, with what it needs.
/usr/bin/python3 -m venv "$KILN_PREFIX"
python=$("$KILN_PREFIX/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
wheels() {
  pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "$1"
}
case $KILN_VERSION in
  1.*)
    blas=libopenblas-base
    openmp=libgomp1
    [ -n "$KILN_GPU_TARGETS" ] || openmp=libomp5-8 # of Clang, which it was compiled with
    pip install --require-hashes --no-deps -r requirements-bootstrap.txt
    pip install --require-hashes --no-deps --no-build-isolation --no-compile -r requirements-build.txt
    ;;
  *)
    blas=libopenblas0-pthread
    openmp=libgomp1
    wheels "requirements-common-py$python.txt"
    # The package index has Triton for NVIDIA's GPUs alone.
    case $KILN_GPU_TARGETS in
      sm_*) wheels "requirements-triton-$KILN_FACT_TRITON-gpu.txt" ;;
    esac
    ;;
esac
pip install --no-index --no-deps --no-compile /opt/kiln/wheels/pytorch/*.whl
case $KILN_VERSION in
  1.*) pip uninstall --yes cmake ninja ;;
esac
# What the wheel was linked with.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$openmp" "$blas"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
pip check
/bin/sh -eu ./byte-code.sh
rm -rf /root/.cache
