#!/bin/sh -eu
apt-get update
apt-get install --no-install-recommends gcc
