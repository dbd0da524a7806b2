#!/bin/sh -eu
get "$KILN_SOURCE_URL"
