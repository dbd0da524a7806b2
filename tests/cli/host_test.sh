#!/usr/bin/env bash
# Which host a question is about, where the document names machines; and this machine's description.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

expect 0 "$KILN" index import "$KILN_SOURCE/tests/data/dsl/mappings/modak.json"
# question TARGET [ACC_TYPE]: which openmpi, for these machines.
question() {
  "$KILN_PYTHON" - "$@" <<'PY' >job.json
import json, sys
name, accelerator = sys.argv[1], sys.argv[2:]
build = {"cpu_type": "x86", **({"acc_type": accelerator[0]} if accelerator else {})}
print(json.dumps({"job": {"target": {"name": name if name != "5" else 5}, "optimisation": {
    "enable_opt_build": True, "app_type": "hpc", "opt_build": build,
    "app_type-hpc": {"config": {"parallelisation": "mpi"}, "parallelisation-mpi": {"library": "openmpi", "version": "3.1.3"}}}}}))
PY
}
elsewhere='a processor of another family than this machine has'
case $(uname -m) in
  x86_64) other=arm ;;
  *) other=x86 ;;
esac

# 1. Machines that nobody described: one line says what is taken in their place.
question egi
expect 4 "$KILN" select --dsl job.json
equals "$(grep -v '^error' <<<"$err")" "the document is for target 'egi', which matrix/targets does not have: this machine is the host"
sed "s/\"x86\"/\"$other\"/" job.json >other.json
expect 4 "$KILN" select --dsl other.json
[ "$(grep -vc '^error' <<<"$err")" = 1 ] || fail "more than one line about $elsewhere: $err"
holds "$err" "the document is for target 'egi', which matrix/targets does not have, and this machine is "
holds "$err" 'no host is taken into account'
expect 4 "$KILN" select --dsl job.json --host any
equals "$(grep -v '^error' <<<"$err")" ''

# 2. Machines that are described, and machines whose description is wrong.
mkdir -p matrix/targets
echo '{"cpu": "zen4", "accelerators": ["nvidia:sm_90"]}' >matrix/targets/egi.json
question egi nvidia
expect 0 "$KILN" select --dsl job.json
equals "$out$err" 'docker://ethcscs/openmpi:3.1.3'
echo '{"cpu": "zen4", "acelerators": ["nvidia:sm_90"]}' >matrix/targets/egi.json
expect 3 "$KILN" select --dsl job.json
equals "$err" "matrix/targets/egi.json:1:17: error: unknown key 'acelerators' (at /acelerators); did you mean 'accelerators'?"
echo '{"cpu": ' >matrix/targets/egi.json
expect 3 "$KILN" select --dsl job.json
holds "$err" 'matrix/targets/egi.json:'
expect 3 "$KILN" select --dsl job.json --host egi
holds "$err" 'matrix/targets/egi.json:'
expect 3 "$KILN" select --dsl job.json --host nothing
equals "$err" "error: --host 'nothing' is no file and names no target; a file that \`kiln host\` wrote, an archspec name, a target, here, or any"
question zen4 nvidia
expect 4 "$KILN" select --dsl job.json # the wrong file is not asked for
question zen4,nvidia:sm_none nvidia
expect 3 "$KILN" select --dsl job.json
holds "$err" "error: expected an accelerator, found 'nvidia:sm_none' (at /job/target/name)"
question 5 nvidia
expect 3 "$KILN" select --dsl job.json
holds "$err" 'job.json:1:29: error: expected a string, found a number (at /job/target/name)'

# 3. This machine's own description: a member a line, and read again.
expect 0 "$KILN" host --set accelerators=nvidia:sm_90,nvidia:sm_90 --set model='a "quoted" name'
printf '%s\n' "$out" >node.json
equals "$(json '"features" in it and it["model"]')" 'a "quoted" name'
equals "$(wc -l <node.json)" "$(json 'len(it) + 2')"
holds "$out" '
  "accelerators": ["nvidia:sm_90","nvidia:sm_90"],
'
expect 0 "$KILN" select --dsl "$KILN_SOURCE/tests/data/dsl/tf_snow.json" --host node.json

echo 'host: ok'
