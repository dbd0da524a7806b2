#!/bin/sh -eu
# Installs the nGraph bridge $KILN_VERSION into TensorFlow's virtual environment.
/opt/kiln/tensorflow/bin/python3 -m pip --quiet --no-cache-dir --disable-pip-version-check install --require-hashes --no-deps \
  --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
/opt/kiln/tensorflow/bin/python3 -m compileall -q -j 0 /opt/kiln/tensorflow/lib/python3.*/site-packages/ngraph_bridge
rm -rf /root/.cache
