#!/usr/bin/env bash
# The scripts of the recipes against the version strings of real distributions.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
"$KILN_PYTHON" "$KILN_SOURCE/tests/cli/package_versions.py" "$KILN_SOURCE" "$work/run"
