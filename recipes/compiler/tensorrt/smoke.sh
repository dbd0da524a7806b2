#!/bin/sh -eu
# ONNX Runtime can use TensorRT, and where there is a GPU, an engine that TensorRT built in this very run gave the right answer.
exec python3 smoke.py
