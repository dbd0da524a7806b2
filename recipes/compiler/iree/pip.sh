#!/bin/sh -eu
# Installs IREE $KILN_VERSION, compiler and runtime, into the framework's virtual environment, beside the NumPy that is there.
exec /bin/sh -eu ./wheels.sh "/opt/kiln/$KILN_FRAMEWORK_NAME"
