#!/bin/sh -eu
# Puts NCCL $KILN_VERSION in the place of the one that came with the framework, for the CUDA of the base. The framework's own pin is left
# behind on purpose, so pip's check is not asked.
"/opt/kiln/$KILN_FRAMEWORK_NAME/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check install --require-hashes --no-deps \
  --only-binary :all: --no-compile -r "requirements-$KILN_VERSION-cu${KILN_BASE_VERSION%%.*}.txt"
rm -rf /root/.cache
