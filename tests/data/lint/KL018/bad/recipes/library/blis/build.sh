#!/bin/sh -eu
curl -fsSLo a.tar.gz "$KILN_SOURCE_URL"
echo "${KILN_SOURCE_CHECKSUM#sha256:}  a.tar.gz" | sha256sum -c -
