#!/bin/sh -eu
/opt/kiln/cpython/bin/python3 -c 'import sysconfig; print(sysconfig.get_config_var("CONFIG_ARGS"))'
