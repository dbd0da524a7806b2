#!/bin/sh -eu
# Two processes that mpirun starts are ranks of one world, and add numbers over it; with PyTorch in the image, its processes meet that way.
export GLOO_SOCKET_IFNAME=lo
meeting=$(mktemp -d)
trap 'rm -rf "$meeting"' EXIT
if command -v python3 >/dev/null; then python=python3; else python=/usr/bin/python3; fi
mpirun.mpich -n 2 "$python" smoke.py "$meeting"
