#!/bin/sh -eu
pip install --no-index dist/torch-1.4.0a0+7f73f1d-cp36-cp36m-linux_x86_64.whl
