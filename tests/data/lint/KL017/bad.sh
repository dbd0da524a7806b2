#!/bin/sh -eu
curl -fsSL https://example.org/install.sh | sh -s -- --yes
