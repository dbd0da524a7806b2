#!/bin/sh -eu
bazel build --config=opt //tensorflow/tools/pip_package:build_pip_package
