#!/bin/sh -eu
git -C src fetch -q "$KILN_SOURCE_URL" "${KILN_SOURCE_CHECKSUM#git:}"
