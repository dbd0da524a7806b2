#!/bin/sh -eu
# GCC is the version asked for; it compiles, links and runs a program.
version=$(gcc -dumpfullversion)
case $version in
  "$KILN_VERSION" | "$KILN_VERSION".*) ;;
  *) echo "gcc is $version, not $KILN_VERSION" >&2; exit 1 ;;
esac
trial=$(mktemp -d)
printf '#include <vector>\nint main() { return static_cast<int>(std::vector<int>(3).size()) - 3; }\n' >"$trial/main.cc"
g++ -O2 "$trial/main.cc" -o "$trial/main"
"$trial/main"
rm -rf "$trial"
echo "gcc $version compiles C and C++"
