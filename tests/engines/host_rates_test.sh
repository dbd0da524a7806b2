#!/usr/bin/env bash
# `kiln host --measure` with the real buildah: the workload runs in an image, once a machine; what it finds is in the description from then on.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
rates=tiny/recipes/workload/host-rates
mkdir -p "$rates"
cat >"$rates/recipe.json" <<'J'
{"description": "A machine's rates, without NumPy", "licenses": "Apache-2.0", "versions": {"1.0": {}}, "methods": {"source": {"script": "bench.sh"}}}
J
says() { # says JSON: what the workload prints
  printf '#!/bin/sh -eu\ntest -d /opt/kiln/hello # inside the image\necho warming up\nprintf "%%s\\n" %s\n' "'$1'" >"$rates/bench.sh"
}
rates() { # rates TRIAD [DGEMM]: samples
  says "{\"unit\": \"GB/s\", \"samples\": [$1], \"file_system\": \"ext4\", \"threads\": 2, \"rates\": {\"triad\": {\"unit\": \"GB/s\", \"samples\": [$1]}${2:+, \"dgemm\": {\"unit\": \"GFLOP/s\", \"samples\": [$2]\}}}}"
}
rates '9.5, 11, 10' 80

# 1. Wrong calls: nothing runs.
expect 2 "$KILN" host --measure
holds "$err" '--file'
expect 2 "$KILN" host --again
expect 2 "$KILN" host -f "$matrix"
expect 4 "$KILN" host --measure -f "$matrix"
holds "$err" 'error: none of the images is built; '

# 2. Measured, kept, told from then on, and not measured twice.
expect 0 "$KILN" build -f "$matrix" version=2.1 library=none
expect 0 "$KILN" host --measure -f "$matrix" version=2.1
holds "$err" 'measure  this machine in hello:2.1-distro-x86_64-busybox1.35'
equals "$(json 'it["rates"]')" "{'dgemm': 80.0, 'triad': 11.0}"
measured=$out
rates 1
expect 0 "$KILN" host
equals "$out" "$measured"
expect 0 "$KILN" host --measure -f "$matrix"
equals "$out" "$measured"
holds "$err" ' in hello:2.1-distro-x86_64-busybox1.35: --again measures it anew'
printf '%s\n' "$measured" >node.json
expect 0 "$KILN" publish -f "$matrix" version=2.1 library=none
echo '{"optimisation": {"enable_opt_build": false, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "2.1"}}}}' >job.json
expect 0 "$KILN" select --dsl job.json --host node.json
[ "$("$KILN_PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["file_system"])' .kiln/hosts/*.json)" = ext4 ] || fail 'the file system is not told'
expect 0 "$KILN" gc
expect 0 "$KILN" host
equals "$out" "$measured" # no garbage
expect 0 "$KILN" host --measure -f "$matrix" --again
equals "$(json 'it["rates"]')" "{'triad': 1.0}"

# 3. A workload that prints nonsense, or fails: a clear word, and what was known stays.
for nonsense in 'done' '{"unit": "GB/s", "samples": [1]}' '{"unit": "GB/s", "samples": [NaN]}' \
  '{"unit": "GB/s", "samples": [1], "rates": {}}' '{"unit": "GB/s", "samples": [1], "rates": {"warp": {"unit": "c", "samples": [9]}}}' \
  '{"unit": "GB/s", "samples": [1], "rates": {"triad": {"unit": "MB/s", "samples": [9]}}}'; do
  says "$nonsense"
  expect 1 "$KILN" host --measure -f "$matrix" --again
  holds "$err" "the workload 'host-rates'"
done
printf '#!/bin/sh\necho no disk >&2\nexit 3\n' >"$rates/bench.sh"
expect 1 "$KILN" host --measure -f "$matrix" --again
holds "$err" "the workload 'host-rates' failed in hello:2.1-distro-x86_64-busybox1.35: "
holds "$err" 'no disk'
expect 0 "$KILN" host
equals "$(json 'it["rates"]')" "{'triad': 1.0}"

# 4. What a person writes is read with care.
echo '{"cpu": "zen4", "rates": {"dgem": 1}}' >wrong.json
expect 3 "$KILN" select --dsl job.json --host wrong.json
equals "$err" "wrong.json:1:27: error: unknown key 'dgem' (at /rates/dgem); did you mean 'dgemm'?"
echo '{"cpu": "zen4", "rates": {"dgemm": -1}}' >wrong.json
expect 3 "$KILN" select --dsl job.json --host wrong.json
equals "$err" 'wrong.json:1:36: error: a rate is a positive number (at /rates/dgemm)'
echo 'host rates: measured, kept, told'
