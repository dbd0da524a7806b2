#!/bin/sh -eu
apt-get update
apt list --installed
