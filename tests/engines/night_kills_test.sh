#!/usr/bin/env bash
# Kills by seed: night_kills_test.sh FOLDER [KILLS [SEED [real]]]. Nights, publications and collections are killed at random moments;
# night_kills.py says what must be. With `real` the steps run in buildah's containers, else in none (fake_step.cc).
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/registry_double.sh
. "$KILN_SOURCE/tests/support/registry_double.sh"
start_double --auth none
cp -r "$tiny" tiny
"$KILN_PYTHON" -B "$KILN_SOURCE/tests/engines/night_kills.py" "$KILN" "$KILN_BUILD/tests/fake_step" "$double" "${2:-18}" "${3:-1}" "${4:-fake}"
