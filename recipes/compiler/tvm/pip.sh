#!/bin/sh -eu
# Installs TVM $KILN_VERSION from hash-checked wheels into the framework's virtual environment, beside the NumPy that is there.
site="/opt/kiln/$KILN_FRAMEWORK_NAME"
version=$("$site/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
"$site/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check install --require-hashes --no-deps --only-binary :all: \
  --no-compile -r "requirements-$KILN_VERSION-py$version.txt"
"$site/bin/python3" -m pip check
"$site/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$site/lib"
rm -rf /root/.cache
