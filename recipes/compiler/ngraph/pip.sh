#!/bin/sh -eu
# Installs the nGraph bridge $KILN_VERSION into TensorFlow's virtual environment.
/opt/kiln/tensorflow/bin/python3 -m pip --quiet --no-cache-dir --disable-pip-version-check install --require-hashes --no-deps \
  --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
bridge=$(echo /opt/kiln/tensorflow/lib/python3.*/site-packages/ngraph_bridge)
# Python 3.6 writes the source's time into its byte code: the one that kiln gives the files, or it would never be used.
find "$bridge" -name '*.py' -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
/opt/kiln/tensorflow/bin/python3 -m compileall -q -j 0 "$bridge"
rm -rf /root/.cache
