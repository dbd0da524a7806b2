#!/bin/sh -eu
CHECKSUM=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
PASSWORD=$(cat /run/secrets/password)
echo "$CHECKSUM $PASSWORD"
