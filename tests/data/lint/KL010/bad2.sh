#!/bin/sh -eu
git clone -b v1.4.0 https://github.com/pytorch/pytorch
