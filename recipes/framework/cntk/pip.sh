#!/bin/sh -eu
# Installs CNTK's last wheel into a virtual environment at $KILN_PREFIX, with the shared library of Python, and with Open MPI under the
# names of its release 1.10: the wheel is linked with both and brings neither.
/bin/sh -eu ./venv-py2.7.sh requirements-2.7-py2.7.txt
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends libpython2.7 libopenmpi3 libgomp1
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
# Beside the wheel's own libraries, which look for each other there and no other program does.
cd "$KILN_PREFIX/lib/python2.7/site-packages/cntk/libs"
ln -s /usr/lib/x86_64-linux-gnu/libmpi.so.40 libmpi.so.12
ln -s /usr/lib/x86_64-linux-gnu/libmpi_cxx.so.40 libmpi_cxx.so.1
