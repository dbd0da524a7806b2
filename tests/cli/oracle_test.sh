#!/usr/bin/env bash
# kiln plans every catalogue, and random ones, as the oracle of tests/oracle does, which shares no code with it.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
export PYTHONDONTWRITEBYTECODE=1
compare=$KILN_SOURCE/tests/oracle/compare.py

expect 0 "$KILN_PYTHON" "$compare" --kiln "$KILN" --seeds 200 --folder random
[ "${out%% *}" -ge 150 ] || fail "most random catalogues make no plan: $out"

# It notices, and says the seed and the place.
cat >changed-kiln <<'KILN'
#!/bin/sh
out=$("$KILN" "$@") || exit
printf '%s' "$out" | sed "$CHANGE"
KILN
chmod +x changed-kiln
export KILN
changed() { # changed SED-EXPRESSION PLACE: a kiln whose answers are edited is found out within ten catalogues
  CHANGE=$1 expect 1 "$KILN_PYTHON" "$compare" --kiln changed-kiln --only-random --seeds 10 --folder changed
  holds "$out" "$2"
  holds "$out" 'seed '
}
changed 's/"automatic": true/"automatic": false/' /components/
changed 's/"KILN_CPU_FAMILY": "x86_64"/"KILN_CPU_FAMILY": "x86"/' /parameters/KILN_CPU_FAMILY
changed 's/ has no / has not /' /excluded/
