#!/usr/bin/env bash
# Mappings as sites write them: names of hubs, one image under several codes, Keras with its backend.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cat >mappings.json <<'JSON'
[{"opt_dsl_code": "aster", "app_name": "code_aster", "container_name": "site/solver:1", "selectors": {"library": "mpich"}},
 {"opt_dsl_code": "aster-mpich", "app_name": "mpich", "version": "3.3.1", "container_name": "docker.io://site/solver:1"},
 {"opt_dsl_code": "keras-tf", "app_name": "keras", "version": 1.1, "enable_opt_build": true, "target": {"cpu_type": "x86"},
  "selectors": {"backend": "TensorFlow"}, "container_name": "site/keras:tf", "container_type": "docker", "container_registry": "docker.io"},
 {"opt_dsl_code": "keras-cntk", "app_name": "keras", "version": 1.1, "enable_opt_build": true, "target": {"cpu_type": "x86"},
  "selectors": {"backend": "cntk"}, "container_name": "library://site/keras/cntk", "container_type": "shub", "container_registry": "library"}]
JSON
expect 0 "$KILN" index import mappings.json
expect 0 "$KILN" index list --format json
equals "$(json '" ".join(sorted(i["name"] for i in it))')" 'docker://site/keras:tf docker://site/solver:1 docker://site/solver:1 library://site/keras/cntk'

# 1. Two rows of one image: each is an answer, and shown by its code; what both name says so.
ask() { # ask APPLICATION: that, unoptimised
  printf '{"job": {"application": {"app_tag": "%s"}}}' "$1" >job.json
  expect "${2:-0}" "$KILN" select --dsl job.json --host any --json
}
ask code_aster
equals "$(json 'it["answer"], it["selected"]["code"]')" 'docker://site/solver:1 aster'
ask mpich
equals "$(json 'it["answer"], it["selected"]["code"]')" 'docker://site/solver:1 aster-mpich'
expect 0 "$KILN" index show aster-mpich
equals "$(json 'it["code"], it["application"]')" 'aster-mpich mpich'
equals "$err" ''
expect 0 "$KILN" index show docker://site/solver:1
equals "$(json 'it["code"]')" aster
equals "$err" "note: 2 mappings are docker://site/solver:1: aster, aster-mpich; a code shows one of them"
expect 0 "$KILN" index list
holds "$out" 'docker://site/solver:1 (aster-mpich)'
lacks "$out" 'docker://site/keras:tf ('
expect 0 "$KILN" index export --mappings
equals "$(json 'len(it)')" 4

# 2. Withdrawn is the image, whatever it is called.
expect 0 "$KILN" index retire aster --reason 'wrong results'
equals "$out" 'snapshot 2: docker://site/solver:1 (aster), docker://site/solver:1 (aster-mpich) is retired'
ask mpich 4
holds "$err" 'docker://site/solver:1: retired: wrong results'
expect 0 "$KILN" index retire docker://site/solver:1 --undo
ask mpich
ask code_aster

# 3. Keras with its backend.
keras() { # keras STATUS BACKEND
  printf '{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"}, "app_type-ai_training":
    {"config": {"ai_framework": "keras"}, "ai_framework-keras": {"version": 1.1, "backend": "%s"}}}}' "$2" >keras.json
  expect "$1" "$KILN" select --dsl keras.json --host any
}
keras 0 tensorflow
equals "$out" 'docker://site/keras:tf'
keras 0 CNTK
equals "$out" 'library://site/keras/cntk'
keras 4 mxnet
equals "$err" 'error: no image matches; docker://site/keras:tf: asks for backend mxnet; mapped for tensorflow'

# 4. A hub that nobody can mean.
echo '{"opt_dsl_code": "a", "app_name": "x", "container_name": "library://i", "container_registry": "docker"}' >bad.json
expect 3 "$KILN" index import bad.json
equals "$err" "bad.json:1:58: error: the name is of library, and container_registry says docker (at /container_name); write the name without 'library://'"

echo 'mapping names: ok'
