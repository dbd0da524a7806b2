#!/bin/sh -eu
echo "PATH=/opt/bin" | tee -a /etc/environment
