#!/bin/sh
set -eu
make
