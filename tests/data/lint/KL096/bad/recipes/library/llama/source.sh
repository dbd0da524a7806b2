#!/bin/sh -eu
# shellcheck disable=SC2086 # flags, not one word
cmake -B build $KILN_CMAKE_FLAGS
