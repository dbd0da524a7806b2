#!/bin/sh -eu
export CC_OPT_FLAGS="$KILN_CPU_FLAGS"
bazel build --config=opt //tensorflow/tools/pip_package:build_pip_package
