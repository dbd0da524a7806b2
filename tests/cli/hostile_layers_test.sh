#!/usr/bin/env bash
# Layers of less than 1 MB take less than 600 MB of memory, whatever is in them.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

"$KILN_PYTHON" "$KILN_SOURCE/tests/cli/hostile_layers.py" "$work"
