#!/usr/bin/env bash
# The flags of every x86-64 microarchitecture, taken by every compiler that Debian 12 offers (ci/setup --compilers), and
# CMake's, taken by CMake.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

for compiler in gcc-11 g++-11 gfortran-11 gcc-12 g++-12 gfortran-12 clang-13 clang-14 clang-15 clang-16; do
  command -v "$compiler" >/dev/null || {
    echo "skipped: no $compiler here; ci/setup --compilers installs it"
    exit 77
  }
done
mkdir compile cmake
"$KILN_PYTHON" "$KILN_SOURCE/tests/engines/flags_by_compiling.py" "$KILN" "$work/compile"

# KILN_CMAKE_FLAGS is split as docs/formats/targets.md says; the level and the target reach the compiler, and CMake's own -O3 does not.
cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(flags LANGUAGES C CXX Fortran)
add_library(both SHARED a.c a.cc a.f90)
END
cp compile/a.* cmake/
expect 0 "$KILN" show --flags --format json --cpu haswell --compiler gcc@12.2.0 --optimise o1+lto
KILN_CMAKE_FLAGS=$(json '[f["value"] for f in it[0]["flags"] if f["variable"] == "KILN_CMAKE_FLAGS"][0]')
eval "set -- $KILN_CMAKE_FLAGS"
CC=gcc-12 CXX=g++-12 FC=gfortran-12 cmake -G Ninja -S cmake -B cmake/build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >cmake/log
out=$(cat cmake/build/compile_commands.json)
for language in a.c a.cc a.f90; do
  words=$(json "[c['command'] for c in it if c['file'].endswith('/$language')][0]")
  holds "$words" '-march=haswell -mtune=haswell -flto=auto'
  holds "$words" ' -O1 '
  lacks "$words" '-O3'
  lacks "$words" "'"
done
cmake --build cmake/build --verbose >>cmake/log
holds "$(cat cmake/log)" '-O1 -flto=auto -shared'
