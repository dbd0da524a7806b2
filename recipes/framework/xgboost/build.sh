#!/bin/sh -eu
# Builds XGBoost $KILN_VERSION for the target, by the compiler's flags alone: its own code chooses no kernel at run time.
eval "set -- $KILN_CMAKE_FLAGS"
exec /bin/sh -eu ./wheel.sh "$@"
