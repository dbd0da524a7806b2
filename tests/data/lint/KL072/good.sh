#!/bin/sh -eu
apt-get update
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends gcc
yes | apt-get install make
