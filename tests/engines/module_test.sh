#!/usr/bin/env bash
# kiln module with the programs that read its files: Lmod and Environment Modules load an image, and a real Apptainer runs a program of it;
# ReFrame runs its tests. shpc: shpc_test.sh.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
if [ "$(id -u)" != 0 ] || [ ! -x "${KILN_APPTAINER_ROOT:-/opt/kiln-apptainer}/usr/bin/apptainer" ]; then
  echo 'SKIPPED: no Apptainer here; ci/apptainer install'
  exit 77
fi
lmod=/usr/share/lmod/lmod/libexec/lmod
modules=$(find "$KILN_SOURCE/.cache/environment-modules" -path '*-linux-gnu/modulecmd.tcl' 2>/dev/null || true)
judges=$KILN_SOURCE/.cache/validators/bin
[ -e "$lmod" ] || { echo 'SKIPPED: no Lmod here; ci/setup --validators'; exit 77; }
# As a user without rights, as on a cluster.
mkdir bin
printf '#!/bin/sh\nPATH=/usr/sbin:/usr/bin:/sbin:/bin exec "%s/ci/apptainer" run "$@"\n' "$KILN_SOURCE" >bin/apptainer
chmod +x bin/apptainer
export PATH=$work/bin:$PATH KILN_APPTAINER_BINDS=$work
unset MODULEPATH LOADEDMODULES _LMFILES_ BASH_ENV

# 1. An image with a SIF, and its module. The folder is moved afterwards, and has a blank.
cp -r "$tiny" tiny
expect 0 "$KILN" build -f tiny/tiny.json version=2.1 library=none
expect 0 "$KILN" publish -f tiny/tiny.json version=2.1 library=none
image=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["name"])')
expect 0 "$KILN" module "$image" --program /opt/kiln/hello/bin/hello --program sh -o made
first=$(cd made && find . -type f -exec sha256sum {} + | sort)
expect 0 "$KILN" module "$image" --program /opt/kiln/hello/bin/hello --program sh -o made
equals "$(cd made && find . -type f -exec sha256sum {} + | sort)" "$first"
mv made 'app s'
folder=$work/'app s'
version=${image#*:}

# 2. Loaded, the wrapper is in PATH, gets the arguments as they are, and its exit status comes back; unloaded, it is gone.
use() { # use NAME COMMAND…: what `NAME ARGUMENT…` of a module system prints is run by bash
  cat >"$1.sh" <<SH
set -e
module() { eval "\$($2 bash "\$@")"; }
module load hello/$version
test -n "\$KILN_MODULE_IMAGE"
hello
sh -c 'echo "\$#: \$1, \$2"; exit 7' sh 'a  b' '\$(id)' || echo "status \$?"
hello-exec cat /opt/kiln/hello/version </dev/null
echo input | hello-exec cat
hello-exec || echo "usage \$?"
module unload hello/$version
! command -v hello || exit 1
SH
  expect 0 env MODULEPATH="$folder/$1" bash "$1.sh"
  # shellcheck disable=SC2016 # an argument, which stays as it is
  equals "$out" "$(printf '%s\n' 'hello 2.1: hello' '2: a  b, $(id)' 'status 7' '2.1' 'input' 'usage 2')"
}
use lmod "$lmod"
MODULEPATH=$folder/lmod "$lmod" bash help "hello/$version" 2>&1 | grep 'Programs: hello hello-exec sh' >/dev/null || fail 'no help of Lmod'
if [ -e "$modules" ]; then
  use tcl "tclsh8.6 $modules"
  MODULEPATH=$folder/tcl tclsh8.6 "$modules" bash help "hello/$version" 2>&1 | grep 'Programs: hello hello-exec sh' >/dev/null ||
    fail 'no help of Environment Modules'
else
  echo 'not here: Environment Modules'
fi

# 3. The file of the SIF names the same image; another SIF needs a name, and its place may have any characters.
sif=$("$KILN" index show "$image" | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["sif"])')
expect 0 "$KILN" module "$sif" --program sh -o same
[ -x "same/bin/hello/$version/sh" ] || fail 'the SIF of an image is not known as its own'
cp -L "$sif" "copy \$(touch bad) 'x'.sif"
expect 2 "$KILN" module "copy \$(touch bad) 'x'.sif" -o other
holds "$err" 'give --name NAME/VERSION'
expect 0 "$KILN" module "copy \$(touch bad) 'x'.sif" --name own/1 --program /opt/kiln/hello/bin/hello -o other
for system in lmod tcl; do
  [ "$system" = lmod ] || [ -e "$modules" ] || continue
  loader=$lmod
  [ "$system" = lmod ] || loader="tclsh8.6 $modules"
  # shellcheck disable=SC2016 # for the shell that loads it
  expect 0 env MODULEPATH="$work/other/$system" bash -c "eval \"\$($loader bash load own/1)\" && hello && printf '%s\n' \"\$KILN_MODULE_IMAGE\""
  equals "$out" "$(printf '%s\n' 'hello 2.1: hello' "$work/copy \$(touch bad) 'x'.sif")"
done
[ ! -e bad ] || fail 'a path became a command'
rm "copy \$(touch bad) 'x'.sif"
expect 1 other/bin/own/1/hello
holds "$err" 'there is no file'

# 4. ReFrame finds the programs, and says which is missing.
if [ -x "$judges/reframe" ]; then
  reframe() { env RFM_PREFIX="$work/stages" RFM_REPORT_FILE="$work/report.json" "$judges/reframe" --nocolor -c "$1" -r; }
  expect 0 reframe "$(echo "$folder"/reframe/*.py)"
  holds "$out" 'Ran 2/2 test case(s)'
  expect 0 "$KILN" module "$image" --program hello -o missing
  expect 1 reframe "$(echo missing/reframe/*.py)"
  holds "$out" 'FAIL'
else
  echo 'not here: ReFrame'
fi
echo 'kiln module: Lmod, Environment Modules, ReFrame and Apptainer take what it writes'
