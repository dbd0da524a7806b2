#!/bin/sh -eu
# XLA compiled, optimised and ran a function of the image's framework in this very run, and for a GPU it can make the machine code.
case $KILN_GPU_TARGETS in
  *sm_[1-9]*) python3 libdevice.py ;;
esac
# TensorFlow 2.1 left the assembling to the driver where there was no assembler.
case $KILN_FRAMEWORK_VERSION/$KILN_GPU_TARGETS in
  2.1.*) ;;
  *sm_[1-9]*) python3 gpu_assembler.py ;;
esac
# Last, as its last line says whether there was a GPU.
case $KILN_FRAMEWORK_NAME in
  jax) python3 smoke_jax.py ;;
  *)
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    XLA_FLAGS="--xla_dump_to=$folder" "$(command -v python3 || command -v python2.7)" smoke_tensorflow.py "$folder"
    ;;
esac
