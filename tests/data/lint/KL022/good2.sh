#!/bin/sh -eu
curl -fsSLo torch-1.4.0-cp36-cp36m-manylinux1_x86_64.whl https://example.org/torch-1.4.0-cp36-cp36m-manylinux1_x86_64.whl
echo "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef  torch-1.4.0-cp36-cp36m-manylinux1_x86_64.whl" | sha256sum -c -
