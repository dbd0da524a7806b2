#!/bin/sh -eu
grep -q blis /proc/self/maps
