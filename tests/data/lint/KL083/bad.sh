#!/bin/sh -eu
apt-get update
apt-get install -y python3-tk
