#!/bin/sh -eu
git clone https://github.com/pytorch/pytorch
cd pytorch
git checkout -q 7f73f1d591afba823daa4a99a939217fb54d7688
git submodule update --init --recursive
