#!/bin/sh -eu
# shellcheck disable=SC2086 # flags, not one word
cmake -B build -DGGML_NATIVE=OFF $KILN_CMAKE_FLAGS
