#!/usr/bin/env bash
# What a compiler cache is worth: a package from its source, with an empty cache, with one that another build of it filled, and with none, in
# turn. Wall time of the compiling step and CPU time of the whole build, for a script that changed, a later version and another target.
# Samples on stdout, a line of JSON each (ci/bench): `without_again`, `with_again`, …, seconds.
#   benchmarks/cache.sh FOLDER [PACKAGE]   FOLDER: empty, or of an earlier run; PACKAGE: openblas, by recipes/library/openblas (the default), or
#                                  cpython or numpy, by tests/data; KILN: the program (default: build/release/kiln);
#                                  KILN_BENCH_RUNS=N: how often (default 1); KILN_BENCH_ROWS='again later target': which of them,
#                                  with the caches that `again` left; KILN_BENCH_WORDS: more for OpenBLAS's make, such as
#                                  BUILD_SINGLE=1, a quarter of it
# The later versions of openblas and cpython are of Debian's sid. Needs the engine and Debian's packages, as
# tests/engines/openblas_test.sh does; numpy, PyPI.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kiln=${KILN:-$source/build/release/kiln}
mkdir -p "${1:?usage: benchmarks/cache.sh FOLDER}"
cd "$1"
export SOURCE_DATE_EPOCH=315532800 KILN_SITE=$PWD/site.json KILN_PROGRESS=none
echo '{"formats": ["oci"], "jobs": 1}' >site.json

rm -rf recipes
mkdir -p recipes/library
package=${2:-openblas}
script=recipes/library/$package/source.sh
case $package in
  openblas)
    cp -r "$source/recipes/library/openblas" recipes/library/
    cp -r "$source/tests/data/openblas/recipes/framework" recipes/
    user=blas-user version=0.3.29 later=0.3.34 other=skylake_avx512
    sed -i "s/\"$version\": {}/\"$later\": {}, &/" recipes/library/openblas/recipe.json
    sed -i "s/ DYNAMIC_ARCH=0/& ${KILN_BENCH_WORDS:-}/" "$script"
    ;;
  cpython)
    cp -r "$source/tests/data/cpython/recipes" .
    user=python-user version=3.13.5 later=3.13.15 other=broadwell # its configure runs what it compiles
    ;;
  numpy)
    cp -r "$source/tests/data/numpy/recipes" .
    user=numpy-user version=2.4.5 later=2.4.6 other=broadwell
    ;;
  *) echo "cache.sh: there is no package '$package'; there are openblas, cpython, numpy" >&2 && exit 2 ;;
esac
# The sources of sid beside the suite's, for the recipes here.
cat >sid.sh <<'SH'
for file in "$1"/lists/*.sources; do
  awk 'BEGIN {RS = ""; ORS = "\n\n"}
    /Suites: *trixie( |\n|$)/ {sub(/Types:[^\n]*/, "Types: deb-src"); sub(/Suites:[^\n]*/, "Suites: sid"); print}' \
    "$file" >"${file%.sources}-sid.sources"
done
SH
mkdir recipes/shared
sed '/^  export APT_CONFIG=/r sid.sh' "$source/recipes/shared/deb-source.sh" >recipes/shared/deb-source.sh
cat >matrix.json <<JSON
{
  "name": "$package",
  "axes": {
    "framework": ["$user"], "version": ["1.0"], "method": ["distro"], "library": ["$package@$version:source", "$package@$later:source"],
    "base": ["debian@trixie"], "target": ["haswell", "$other"]
  }
}
JSON

run=0
# build SERIES VERSION TARGET [OPTION…]: with a script that nobody ran before. `found` and `compiled` are ccache's.
build() {
  local series=$1 of=$2 target=$3 start=$SECONDS
  shift 3
  run=$((run + 1))
  echo "# $series $run $RANDOM$RANDOM" >>"$script"
  { TIMEFORMAT='%U %S'; time "$kiln" "$@" --recipes "$source/recipes" --recipes recipes build -f matrix.json --state state -j 1 \
    "library=$package@$of:source" "target=$target" >build.log 2>&1; } 2>cpu.log || { cat build.log >&2; exit 1; }
  python3 - "$package" "$series" "$(cat cpu.log)" "$((SECONDS - start))" <<'PY'
import glob, json, os, re, sys
package, series, cpu, wall = sys.argv[1:]
logs = [path for path in glob.glob("state/logs/*.log") if f"# library/{package} source.sh" in open(path, errors="replace").read(2000)]
newest = max(logs, key=os.path.getmtime)
record = json.load(open(f"state/steps/{os.path.basename(newest)[:-4]}.json"))
said = re.search(r"ccache found (\d+) of (\d+) files", open(newest, errors="replace").read())
line = {"series": series, "step": round(record["seconds"], 1), "wall": int(wall), "cpu": round(sum(map(float, cpu.split())), 1)}
if said:
    line.update(found=int(said[1]), files=int(said[2]))
print(json.dumps(line), flush=True)
PY
}

# Makes base and compiler, too.
[ -d state/steps ] || build first "$version" haswell --no-cache

for ((round = 0; round < ${KILN_BENCH_RUNS:-1}; ++round)); do
  for row in ${KILN_BENCH_ROWS:-again later target}; do
    case $row in
      again)
        rm -rf state/caches
        build without_again "$version" haswell --no-cache
        build with_empty "$version" haswell
        build with_again "$version" haswell
        ;;
      later)
        build without_later "$later" haswell --no-cache
        build with_later "$later" haswell
        ;;
      target)
        build without_target "$version" "$other" --no-cache
        build with_target "$version" "$other"
        ;;
    esac
  done
done
