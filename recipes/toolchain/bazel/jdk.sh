#!/bin/sh -eu
# Installs the Java that a Bazel built from source runs on.
export DEBIAN_FRONTEND=noninteractive
[ -x "$KILN_PREFIX/bin/bazel" ] || { echo "jdk.sh: the build left no bazel in $KILN_PREFIX/bin" >&2; exit 3; }
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "openjdk-$KILN_FACT_JAVA-jdk-headless"
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
