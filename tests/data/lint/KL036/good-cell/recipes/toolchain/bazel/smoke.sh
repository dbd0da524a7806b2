#!/bin/sh -eu
bazel --version
