#!/usr/bin/env bash
# kiln scripts and kiln infrastructure remove: what is imported is checked, is in the scripts of jobs, and is gone with a removal and back with
# a rollback.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cat >scripts.json <<'J'
[{"description": "switch XLA on", "conditions": {"application": {"name": "tensorflow", "feature": {"xla": true}}},
  "data": {"stage": "pre", "raw": "export TF_XLA_FLAGS=--tf_xla_auto_jit=2"}},
 {"conditions": {"infrastructure": {"name": "hlrs"}}, "data": {"stage": "post", "raw": "echo done"}}]
J
echo '{"name": "hlrs", "configuration": {"scheduler": "slurm", "partitions": {"a": {"nnodes": 2}}}}' >hlrs.json
echo '[{"opt_dsl_code": "tf", "app_name": "tensorflow", "version": "2.1", "container_name": "modakopt/modak:tensorflow-2.1-gpu-src",
  "enable_opt_build": true, "target": {"cpu_type": "x86", "acc_type": "nvidia"}, "selectors": {"xla": true}}]' >mappings.json
expect 0 "$KILN" index import mappings.json
job() { "$KILN" job --host any --dsl "$KILN_SOURCE/tests/data/dsl/tf_snow.json" "$@"; }

# 1. Two scripts: in the job where their conditions hold.
expect 0 "$KILN" scripts import scripts.json
equals "$out" 'snapshot 2: 2 scripts imported'
holds "$err" "the index has no infrastructure 'hlrs', which a script names"
expect 0 "$KILN" scripts import scripts.json
equals "$out" 'snapshot 2: 2 scripts imported'
expect 0 "$KILN" scripts list
holds "$out" 'tensorflow xla=true'
holds "$out" 'on hlrs'
expect 0 "$KILN" scripts list --json
xla=$(json 'it[0]["id"]')
equals "$(json 'len(it)')" 2
expect 0 "$KILN" scripts show "${xla:0:12}"
equals "$(json 'it["description"]')" 'switch XLA on'
expect 0 job
holds "$out" 'export TF_XLA_FLAGS=--tf_xla_auto_jit=2'
lacks "$out" 'echo done'
expect 0 "$KILN" infrastructure import hlrs.json
equals "$out" 'snapshot 3: 1 infrastructure imported'
expect 0 job --infrastructure hlrs
holds "$out" 'echo done'

# 2. Removed, each is gone from now on; a snapshot before has it, and so has a rollback.
expect 0 "$KILN" scripts remove "$xla"
equals "$out" "snapshot 4: $xla removed"
expect 0 job
lacks "$out" 'TF_XLA_FLAGS'
expect 0 job --snapshot 3
holds "$out" 'TF_XLA_FLAGS'
expect 0 "$KILN" scripts show "$xla" --snapshot 3
expect 0 "$KILN" infrastructure remove hlrs
equals "$out" 'snapshot 5: hlrs removed'
expect 0 "$KILN" infrastructure list --json
equals "$out" '[]'
expect 3 job --infrastructure hlrs
expect 4 "$KILN" infrastructure remove hlrs
holds "$err" "the index has no infrastructure 'hlrs'"
expect 0 "$KILN" index rollback 3
expect 0 job --infrastructure hlrs
holds "$out" 'TF_XLA_FLAGS'
holds "$out" 'echo done'
expect 0 "$KILN" index fsck
rm .kiln/index.db
expect 0 "$KILN" index recover
expect 0 "$KILN" scripts list --snapshot 5 --json
equals "$(json 'len(it)')" 1

# 3. What is wrong is refused with its place, and makes no snapshot.
refused() { # refused STATUS WORDS COMMAND…
  local status=$1 words=$2
  shift 2
  expect "$status" "$KILN" "$@"
  holds "$err" "$words"
  equals "$out" ''
}
echo '[{"data": {"stage": "pre", "raw": "true"}},
 {"data": {"stage": "pre", "raw": "cp {{ nothing }} ."}}]' >wrong.json
refused 3 "wrong.json:2:" scripts import wrong.json
for raw in 'if true; then' 'cat <<EOF\na' "echo \\\\" 'echo a\r\necho b'; do
  printf '{"description": "open", "data": {"stage": "pre", "raw": "%s"}}' "$raw" >open.json
  refused 3 'open.json: error: open: ' scripts import open.json
done
echo '{"data": {"stage": "pre", "raw": "#SBATCH --nodes=9"}}' >directive.json
refused 3 'directive.json:1:' scripts import directive.json
refused 3 'none.json' scripts import none.json
refused 4 "the index has no script '7777'" scripts show 7777
refused 4 'the index has no script' scripts remove ''
expect 0 "$KILN" scripts list --json
equals "$(json 'len(it)')" 2
echo 'kiln scripts: imported, in jobs, removed, back with a rollback; wrong ones are refused'
