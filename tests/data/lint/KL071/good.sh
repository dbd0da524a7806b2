#!/bin/sh -eu
apt-get update
apt-get install -y --no-install-recommends gcc
rm -rf /var/lib/apt/lists/*
