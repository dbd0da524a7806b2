#!/bin/sh -eu
git clone https://github.com/pytorch/pytorch
cd pytorch
make
