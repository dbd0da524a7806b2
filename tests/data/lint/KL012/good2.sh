#!/bin/sh -eu
if curl -fsS https://example.org/health | grep -q ok; then echo up; fi
