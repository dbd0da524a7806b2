#!/bin/sh -eu
# Checks that the build left something in its folder. Let {{name}} compute a known result instead, and fail if it has another version
# than $KILN_VERSION.
[ -n "$(ls "/opt/kiln/{{name}}")" ]
echo "{{name}} $KILN_VERSION"
