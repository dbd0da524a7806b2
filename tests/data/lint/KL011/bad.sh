#!/bin/sh -eu
git clone https://github.com/tensorflow/tensorflow
cd tensorflow
git checkout r2.1
