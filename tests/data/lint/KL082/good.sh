#!/bin/sh -eu
LIBRARY_PATH=/usr/local/cuda/lib64/stubs make
