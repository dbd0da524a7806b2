#!/usr/bin/env bash
# Thirty nights in a row, each with one change of the catalogue, one fault and one garbage collection, by seed:
# thirty_nights_test.sh FOLDER [NIGHTS [SEED]]. The engine is none (fake_step.cc).
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/registry_double.sh
. "$KILN_SOURCE/tests/support/registry_double.sh"
[ "$(id -u)" = 0 ] || { echo 'a disk of its own needs root' && exit 77; }
start_double --auth none
cp -r "$tiny" tiny
mkdir .kiln
mount -t tmpfs -o size=1g kiln .kiln || { echo 'no disk of its own here' && exit 77; }
"$KILN_PYTHON" -B "$KILN_SOURCE/tests/engines/thirty_nights.py" "$KILN" "$KILN_BUILD/tests/fake_step" "$double" "${2:-30}" "${3:-1}"
