#!/bin/sh -eu
# Installs the nGraph bridge $KILN_VERSION into TensorFlow's virtual environment.
bin=/opt/kiln/tensorflow/bin
python=$(command -v $bin/python3 || command -v $bin/python2.7)
"$python" -m pip --quiet --no-cache-dir --disable-pip-version-check install --require-hashes --no-deps \
  --only-binary :all: --no-compile -r "requirements-$KILN_VERSION.txt"
bridge=$(echo /opt/kiln/tensorflow/lib/python?.*/site-packages/ngraph_bridge)
# Python 2.7 and 3.6 write the source's time into their byte code: the one that kiln gives the files, or it would never be used.
find "$bridge" -name '*.py' -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
"$python" -m compileall -q "$bridge"
rm -rf /root/.cache
