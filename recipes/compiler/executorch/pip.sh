#!/bin/sh -eu
# Installs ExecuTorch $KILN_VERSION into PyTorch's virtual environment, beside the NumPy that is there.
exec /bin/sh -eu ./wheels.sh /opt/kiln/pytorch
