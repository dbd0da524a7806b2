#!/bin/sh -eu
# XLA compiled clusters of an ordinary graph in this very run, by the image's own TF_XLA_FLAGS, and the answer is right.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XLA_FLAGS="--xla_dump_to=$folder" python3 smoke.py "$folder"
