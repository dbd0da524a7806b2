#!/bin/sh -eu
exit 0
grep -q blis /proc/self/maps
