#!/bin/sh -eu
PYTHONPATH=/opt/kiln/numpy python3 -c 'import numpy; numpy.show_config()'
