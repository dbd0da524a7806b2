#!/bin/sh -eu
apt-get install -y --no-install-recommends gcc
rm -rf /var/lib/apt/lists/*
