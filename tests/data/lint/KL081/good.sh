#!/bin/sh -eu
update-alternatives --set cuda /usr/local/cuda-10.1
dpkg-reconfigure -f noninteractive tzdata
