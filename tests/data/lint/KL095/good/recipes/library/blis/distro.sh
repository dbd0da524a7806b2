#!/bin/sh -eu
PATH=/usr/lib/ccache:$PATH
make
