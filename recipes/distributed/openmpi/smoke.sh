#!/bin/sh -eu
# Two processes that mpirun starts are ranks of one world, and add numbers over it; with PyTorch in the image, its processes meet that way.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export GLOO_SOCKET_IFNAME=lo
meeting=$(mktemp -d)
trap 'rm -rf "$meeting"' EXIT
if command -v python3 >/dev/null; then python=python3; else python=/usr/bin/python3; fi
# Within one machine: no network is needed, nor looked for. The machine may have one core. Shared memory was called vader up to 4.
case $KILN_VERSION in
  4.*) shared=vader ;;
  *) shared=sm ;;
esac
mpirun.openmpi --oversubscribe --bind-to none --mca pml ob1 --mca btl "self,$shared" -n 2 "$python" smoke.py "$meeting"
