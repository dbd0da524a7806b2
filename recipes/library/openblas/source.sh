#!/bin/sh -eu
# Builds OpenBLAS $KILN_VERSION for one CPU, $KILN_CPU_TARGET, into $KILN_PREFIX, from the distribution's own source package: apt
# checks its signature, as it does for packages. No kernels but those of the one CPU are built, and nothing is chosen at run
# time. LAPACK stays the distribution's, which calls this BLAS.
export DEBIAN_FRONTEND=noninteractive

# What OpenBLAS (TargetList.txt) calls the newest of its processors that the target has all features of.
case $KILN_CPU_TARGET in
  x86_64) target=GENERIC ;;
  x86_64_v2 | nehalem | westmere) target=NEHALEM ;;
  sandybridge | ivybridge) target=SANDYBRIDGE ;;
  x86_64_v3 | haswell | broadwell | skylake | cannonlake) target=HASWELL ;;
  zen | zen2 | zen3) target=ZEN ;;
  x86_64_v4 | skylake_avx512 | cascadelake | icelake | zen4) target=SKYLAKEX ;;
  sapphirerapids) target=SAPPHIRERAPIDS ;;
  neoverse_n1) target=NEOVERSEN1 ;;
  neoverse_v1) target=NEOVERSEV1 ;;
  a64fx) target=A64FX ;;
  aarch64 | armv8*) target=ARMV8 ;;
  *) echo "source.sh: OpenBLAS has no kernels of its own for $KILN_CPU_TARGET; take the method distro" >&2; exit 3 ;;
esac

work=/tmp/kiln-openblas # the same each time: compilers are told it
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# shellcheck source=recipes/shared/deb-source.sh
. ./deb-source.sh
deb_sources "$work"
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ccache dpkg-dev
# gcc goes through ccache, which keeps nothing where nobody gives it a folder.
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
export PATH="/usr/lib/ccache:$PATH"
cd "$work"
# Without Debian's patches: they put its own LAPACK into the library, and alternatives around it.
deb_source openblas "$KILN_VERSION"
cd source

set -- TARGET="$target" DYNAMIC_ARCH=0 USE_OPENMP=1 NO_LAPACK=1 NO_AFFINITY=1 NO_STATIC=1 NUM_THREADS=256 \
  CC=gcc FC=gfortran COMMON_OPT="$CFLAGS" FCOMMON_OPT="$FFLAGS" PREFIX="$KILN_PREFIX"
make -j"$KILN_JOBS" "$@" libs shared >make.log 2>&1 || { tail -n 40 make.log; exit 1; }
make "$@" install >install.log 2>&1 || { tail -n 40 install.log; exit 1; }

# ldconfig lists libraries by the name that is inside them: a link called libblas.so.3 would not be found.
gcc -shared -Wl,-soname,libblas.so.3 -Wl,--no-as-needed -o "$KILN_PREFIX/lib/libblas.so.3" -L"$KILN_PREFIX/lib" -lopenblas
rm -rf "${KILN_PREFIX:?}/lib/cmake" "${KILN_PREFIX:?}/bin"
