#!/bin/sh -eu
echo "$KILN_VERSION"
