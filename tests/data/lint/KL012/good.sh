#!/bin/sh -eu
curl -fsSLo bazel.zip "$KILN_SOURCE_URL"
echo "${KILN_SOURCE_CHECKSUM#sha256:}  bazel.zip" | sha256sum -c -
