#!/bin/sh -eu
curl -fsSLo a.zip https://github.com/a/b/archive/refs/heads/main.zip
sha256sum -c sums
