#!/bin/sh -eu
apt-get update
apt-get install -y --no-install-recommends cmake
