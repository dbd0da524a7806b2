#!/bin/sh -eu
# Builds Bazel $KILN_VERSION from its release archive, which carries all that the first build needs.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
set -- bash ca-certificates curl "openjdk-$KILN_FACT_JAVA-jdk-headless" unzip zip
case $KILN_VERSION in
  0.*) set -- "$@" python; java_words=--host_javabase=@local_jdk//:jdk ;;
  *) java_words="--tool_java_runtime_version=local_jdk --java_runtime_version=local_jdk" ;;
esac
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
work=$(mktemp -d)
cd "$work"
curl -fsSL --proto '=https' -o bazel.zip "$KILN_SOURCE_URL"
echo "${KILN_SOURCE_CHECKSUM#sha256:}  bazel.zip" | sha256sum -c --quiet -
unzip -q bazel.zip -d source
cd source
EMBED_LABEL=$KILN_VERSION
EXTRA_BAZEL_ARGS="$java_words --jobs=$KILN_JOBS"
export EMBED_LABEL EXTRA_BAZEL_ARGS
bash ./compile.sh
install -D -m 755 output/bazel "$KILN_PREFIX/bin/bazel"
