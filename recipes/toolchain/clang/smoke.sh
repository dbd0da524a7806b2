#!/bin/sh -eu
# Compiles, links and runs C and C++; the compiler is the version asked for.
major=${KILN_VERSION%%.*}
version=$("clang-$major" --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
case $version in
  "$KILN_VERSION" | "$KILN_VERSION".*) ;;
  *) echo "clang-$major is ${version:-unknown}, not $KILN_VERSION" >&2; exit 1 ;;
esac
trial=$(mktemp -d)
cd "$trial"
printf 'int main(void) { return 0; }\n' >c.c
printf '#include <vector>\nint main() { return static_cast<int>(std::vector<int>(3).size()) - 3; }\n' >cc.cc
"clang-$major" -O2 c.c -o c
"clang++-$major" -O2 cc.cc -o cc
./c
./cc
"llvm-config-$major" --version
cd /
rm -rf "$trial"
echo "clang $version compiles C and C++"
