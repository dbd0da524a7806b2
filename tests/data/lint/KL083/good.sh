#!/bin/sh -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y python3-tk
