#!/usr/bin/env bash
# kiln module: the files that it writes for a mapping, and what it refuses. Programs that read them: tests/engines/module_test.sh.
# shellcheck disable=SC2016 # variables are for scripts that are looked at
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cat >mappings.json <<'J'
[{"opt_dsl_code": "tf", "app_name": "tensorflow", "version": "2.1", "container_name": "modakopt/modak:tensorflow-2.1-gpu-src",
  "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true}},
 {"opt_dsl_code": "digest", "app_name": "jax", "version": "1", "container_name": "x/y@sha256:0123"}]
J
expect 0 "$KILN" index import mappings.json
module() { "$KILN" module "$@"; }
mapping=docker://modakopt/modak:tensorflow-2.1-gpu-src

# 1. A mapping: its wrappers find the file in $SINGULARITY_DIR, with the GPUs of its vendor; stdout has the files, and each passes its checker.
expect 0 module "$mapping" -o made
equals "$out" "$(find made -type f | LC_ALL=C sort)"
holds "$err" "module use $work/made/lmod && module load modak/tensorflow-2.1-gpu-src"
holds "$err" 'no container.yaml'
wrapper=made/bin/modak/tensorflow-2.1-gpu-src/python3
[ -x "$wrapper" ] || fail 'a wrapper that cannot be run'
holds "$(cat "$wrapper")" 'container=(apptainer exec --nv "${image}")'
holds "$(cat made/edf/*.toml)" 'image = "modakopt/modak:tensorflow-2.1-gpu-src"'
! command -v shellcheck >/dev/null || shellcheck made/bin/*/*/* || fail 'shellcheck'
"$KILN_PYTHON" -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' made/reframe/*.py
expect 1 env -u SINGULARITY_DIR "$wrapper" -c pass
holds "$err" 'SINGULARITY_DIR: is the folder of the image files'
expect 2 made/bin/modak/tensorflow-2.1-gpu-src/modak-exec
equals "$err" 'usage: modak-exec PROGRAM [ARGUMENT...]'
mkdir bin sifs
printf '#!/bin/sh\nprintf "%%s|" "$@"; exit 9\n' >bin/apptainer
chmod +x bin/apptainer
: >sifs/modak_tensorflow-2.1-gpu-src.sif
expect 9 env PATH="$work/bin:$PATH" SINGULARITY_DIR="$work/sifs" "$wrapper" -c 'a  b' ''
equals "$out" "exec|--nv|$work/sifs/modak_tensorflow-2.1-gpu-src.sif|python3|-c|a  b||"

# 2. References that no index has, other runtimes, names, programs and folders; the same bytes again.
expect 0 module docker://r.site:5000/ai/solver:4 --program /opt/solver/bin/solver --program mpirun --bind /scratch --runtime sarus --gpu amd -o other
holds "$(cat other/bin/solver/4/solver)" "image='r.site:5000/ai/solver:4'"
holds "$(cat other/bin/solver/4/solver)" '/opt/solver/bin/solver "$@"'
holds "$(cat other/edf/solver-4.toml)" 'mounts = ["/scratch:/scratch"]'
[ ! -e other/bin/solver/4/python3 ] || fail 'a program that was not named'
expect 0 module "$mapping" --name tf/2.1 --runtime singularity -o named
holds "$(cat named/bin/tf/2.1/python)" 'container=(singularity exec --nv'
cp -r named first
expect 0 module "$mapping" --name tf/2.1 --runtime singularity -o named
diff -r named first || fail 'other bytes'
expect 0 module "$mapping" docker://r.site:5000/ai/solver:4 -o both
[ -e both/lmod/solver/4.lua ] || fail 'the second image has no module'

# 3. What is wrong is said, and nothing is written.
refused() { # refused STATUS WORDS ARGUMENT…
  local status=$1 words=$2
  shift 2
  expect "$status" module "$@" -o none
  equals "$out" ''
  holds "$err" "$words"
  [ ! -e none ] || fail 'files were written'
}
refused 4 "the index has no image 'pytroch'" pytroch
refused 2 'give --name NAME/VERSION' docker://x/y@sha256:0123
refused 2 "'../x' is not NAME/VERSION" "$mapping" --name ../x
refused 2 "invalid program 'a;id': expected a name or an absolute path" "$mapping" --program 'a;id'
refused 2 "have the name 'x'" "$mapping" --program /a/x --program /b/x
refused 2 'runs any program' "$mapping" --program modak-exec
refused 2 "--bind 'scratch' is no absolute path" "$mapping" --bind scratch
refused 2 'enroot: kiln writes no wrappers' "$mapping" --runtime enroot
refused 2 'podman: kiln writes no wrappers' "$mapping" --runtime podman
refused 2 'two images are the module' "$mapping" "$mapping"
refused 2 '--name names one module' "$mapping" docker://a/b:1 --name a/1
refused 3 'none.sif' none.sif --name a/1
echo text >text.sif
refused 3 'text.sif' text.sif --name a/1
refused 2 'nodes cannot run' oci:folder:tag
expect 2 module "$mapping" -o 'a:b'
holds "$err" 'colon'
expect 2 module "$mapping"
: >file
expect 8 module "$mapping" -o file/below
if [ "$(id -u)" = 0 ]; then
  mkdir full && mount -t tmpfs -o size=4k,nr_inodes=6 tmpfs full
  expect 8 module "$mapping" -o full/made
  umount full
fi
echo 'kiln module: mappings, references and runtimes; what is wrong writes nothing'
