#!/bin/sh -eu
curl -fsSLo a.tar.gz https://github.com/a/b/archive/v1.0.tar.gz
sha256sum -c sums
