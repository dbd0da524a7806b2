#!/bin/sh -eu
# Installs MXNet $KILN_VERSION from hash-checked wheels into a virtual environment at $KILN_PREFIX: the one for GPUs on a base with CUDA.
case $KILN_METHOD/$KILN_VERSION in
  vendor/1.6.*) /bin/sh -eu ./venv-py2.7.sh "requirements-$KILN_VERSION-mkl-py2.7.txt" ;;
  */1.6.*) /bin/sh -eu ./venv-py2.7.sh "requirements-$KILN_VERSION-py2.7.txt" ;;
  *)
    kind=cpu
    [ "$KILN_BASE_NAME" != cuda ] || kind=gpu
    /usr/bin/python3 -m venv "$KILN_PREFIX"
    "$KILN_PREFIX/bin/pip" install --quiet --require-hashes --only-binary :all: --no-deps --no-cache-dir --no-compile \
      --root-user-action=ignore -r "requirements-$KILN_VERSION-$kind.txt"
    "$KILN_PREFIX/bin/pip" check
    "$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
    ;;
esac
# What the wheel is linked with and does not bring.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libgomp1 libquadmath0
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache /root/.cache
