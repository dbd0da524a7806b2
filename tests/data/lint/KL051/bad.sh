#!/bin/sh -eu
"$KILN_PREFIX/bin/pip" install -r requirements.txt
