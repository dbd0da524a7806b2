# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# An image and a workload for tests of `kiln tune`, sourced after script.sh: $matrix has one cell, and job.json asks for it. The workload `say` is
# faster the nearer SPEED is to 7; it crashes with BIND=crash, hangs with BIND=hang, prints NaN with BIND=nan, and fails while the folder
# of --data has a file `fail`.
cp -r "$tiny" tiny
matrix=tiny/tiny.json
echo '{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.10"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["x86_64"]}}' >"$matrix"
mkdir tiny/recipes/workload/say
echo '{"description": "Says what it was told", "licenses": "Apache-2.0", "homepage": "https://example.org/say", "versions": {"1.0": {}},
  "methods": {"distro": {"script": "bench.sh"}}}' >tiny/recipes/workload/say/recipe.json
cat >tiny/recipes/workload/say/bench.sh <<'SH2'
#!/bin/sh -eu
speed=${SPEED:-1}
time=$((40 + (speed - 7) * (speed - 7)))
[ ! -e "${KILN_BENCH_DATA:-/none}/fail" ] || { echo 'told to fail' && exit 3; }
case ${BIND:-} in
  crash) echo 'Segmentation fault' && exit 139 ;;
  hang) sleep 1000 ;;
  nan) time=NaN ;;
esac
echo "{\"unit\": \"ms/step\", \"samples\": [$time, $time.1, $time, $time.2, $time]}"
SH2
echo '{"optimisation": {"enable_opt_build": false, "workload": "say", "app_type": "ai_training",
  "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "2.10"}}}}' >job.json
echo '{"variables": {"SPEED": {"from": 1, "to": 9}, "BIND": {"values": ["crash"]}}}' >space.json
