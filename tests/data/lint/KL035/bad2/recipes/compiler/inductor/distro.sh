#!/bin/sh -eu
apt-get update
apt-get install -y --no-install-recommends g++ python3-dev python3-setuptools
rm -rf /var/lib/apt/lists/*
