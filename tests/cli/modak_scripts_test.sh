#!/usr/bin/env bash
# The scripts that kiln writes for MODAK's documents differ from MODAK's as docs/query.md says, and in nothing else.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
expect 0 "$KILN" index import "$KILN_SOURCE/tests/data/dsl/mappings/modak.json"
"$KILN_PYTHON" -B "$KILN_SOURCE/tests/cli/modak_scripts.py" "$KILN" "$KILN_SOURCE" || fail 'a difference that is not listed'
