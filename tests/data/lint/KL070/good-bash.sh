#!/usr/bin/env bash
set -eu
if [[ $1 == a* ]]; then
  echo "$1"
fi
