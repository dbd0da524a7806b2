#!/bin/sh -eu
# Compiles, links and runs a program in each language; the compiler is the version asked for.
version=$(gcc -dumpfullversion)
case $version in
  "$KILN_VERSION" | "$KILN_VERSION".*) ;;
  *) echo "gcc is $version, not $KILN_VERSION" >&2; exit 1 ;;
esac
trial=$(mktemp -d)
cd "$trial"
printf 'int main(void) { return 0; }\n' >c.c
printf '#include <vector>\nint main() { return static_cast<int>(std::vector<int>(3).size()) - 3; }\n' >cc.cc
printf 'program f\n  if (nint(sqrt(4.0)) /= 2) stop 1\nend program f\n' >f.f90
gcc -O2 c.c -o c
g++ -O2 cc.cc -o cc
gfortran -O2 f.f90 -o f
./c
./cc
./f
cd /
rm -rf "$trial"
echo "gcc $version compiles C, C++ and Fortran"
