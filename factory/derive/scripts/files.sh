#!/bin/sh -eu
# Unpacks the application's files at the path that `kiln derive --copy` was given.
mkdir -p "$KILN_FACT_PATH"
tar -xf files.tar -C "$KILN_FACT_PATH"
