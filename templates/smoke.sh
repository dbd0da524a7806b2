#!/bin/sh -eu
# {{name}} is the version asked for. That it is installed proves little: let it compute something whose answer is known, and fail where
# it would fall back in silence.
# shellcheck disable=SC2016 # the variable is dpkg-query's
found=$(dpkg-query -W -f '${Version}' "$KILN_FACT_PACKAGE")
case $found in
  "$KILN_VERSION" | "$KILN_VERSION"[.+~-]*) ;;
  *) echo "$KILN_FACT_PACKAGE is $found, not $KILN_VERSION" >&2; exit 1 ;;
esac
dpkg --verify "$KILN_FACT_PACKAGE"
echo "{{name}} $found"
