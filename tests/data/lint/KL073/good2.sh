#!/bin/sh -eu
echo 'APT::Install-Recommends "false";' >/etc/apt/apt.conf.d/01lean
apt-get update
apt-get install -y cmake
