#!/usr/bin/env bash
# A night of 200 images of which a tenth crashes and a twentieth hangs ends with a verdict for each; so do the nights after it.
# The engine is none (fake_step.cc): what goes on around the steps is the test.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
exec "$KILN_PYTHON" -B "$KILN_SOURCE/tests/engines/night_verdicts.py" "$KILN" "$KILN_BUILD/tests/fake_step" "${2:-200}" "${3:-1}"
