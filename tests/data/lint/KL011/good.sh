#!/bin/sh -eu
git clone https://github.com/tensorflow/tensorflow
cd tensorflow
git checkout 7f73f1d591afba823daa4a99a939217fb54d7688
