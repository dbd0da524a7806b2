#!/bin/sh -eu
make install
export PATH=/opt/app/bin:$PATH
