#!/bin/sh -eu
git init -q src
git -C src fetch -q --depth 1 "$KILN_SOURCE_URL" "${KILN_SOURCE_CHECKSUM#git:}"
git -C src checkout -q FETCH_HEAD
