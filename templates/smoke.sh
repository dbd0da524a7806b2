#!/bin/sh -eu
# Checks that {{name}} has the requested version. An installed component may still not work: let it compute a known result, and fail
# if it silently falls back.
# shellcheck disable=SC2016 # the variable is dpkg-query's
found=$(dpkg-query -W -f '${Version}' "$KILN_FACT_PACKAGE")
case $found in
  "$KILN_VERSION" | "$KILN_VERSION"[.+~-]*) ;;
  *) echo "$KILN_FACT_PACKAGE is $found, not $KILN_VERSION" >&2; exit 1 ;;
esac
dpkg --verify "$KILN_FACT_PACKAGE"
echo "{{name}} $found"
