#!/bin/sh -eu
# Installs Transformers $KILN_VERSION from hash-checked wheels into PyTorch's virtual environment, beside the NumPy that is there.
site=/opt/kiln/pytorch
pip() {
  "$site/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
pip check
"$site/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$site/lib"
rm -rf /root/.cache
