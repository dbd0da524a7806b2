#!/bin/sh -eu
curl -fsSLO https://example.org/bazel-0.29.1.zip
unzip bazel-0.29.1.zip
