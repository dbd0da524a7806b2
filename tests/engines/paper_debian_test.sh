#!/usr/bin/env bash
# The paper's frameworks on Debian 11, built for real: eight images and what became of each, what the graph compilers took over,
# what is inside, and which hosts an image of nGraph is for.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
[ "$(uname -m)" = x86_64 ] || exit 77

matrix=$KILN_SOURCE/matrix/paper-debian.json
export KILN_RECIPES=$KILN_SOURCE/recipes
if ! (cd "$KILN_RECIPES/base/debian" && KILN_FACT_SUITE=bullseye sh -eu archive.sh) >archive 2>&1; then
  echo "this machine's mirror has no bullseye; exclude it from the matrix with that reason: $(tail -n 1 archive)"
  exit 77
fi

# Where the processors are not Intel's, nGraph's test says so, and the other seven are built all the same.
images=8 ngraph=built status=0
grep -q GenuineIntel /proc/cpuinfo || { images=7 ngraph=failed status=1; }
expect $status "$KILN" build -f "$matrix" --format json
equals "$(json '"\n".join("%s %s" % (image["name"], image["verdict"]) for image in it["images"])')" \
  "tensorflow:1.14.0-pip-x86_64_v3-bullseye built
tensorflow:1.14.0-pip-ngraph-x86_64_v3-bullseye $ngraph
tensorflow:2.1.0-pip-x86_64_v3-bullseye built
tensorflow:2.1.0-pip-xla-x86_64_v3-bullseye built
pytorch:1.4.0-pip-x86_64_v3-bullseye built
mxnet:1.6.0-pip-x86_64_v3-bullseye built
mxnet:1.6.0-vendor-x86_64_v3-bullseye built
cntk:2.7-pip-x86_64_v3-bullseye built"

# said CELL WORDS: a test of the cell printed that.
said() {
  grep -RhE -- "$2" ".kiln/logs/$1-x86_64_v3-debian_bullseye" >/dev/null || fail "no test of $1 said '$2'"
}
said tensorflow-1.14.0-pip '^tensorflow 1\.14\.0, CPU$'
said tensorflow-2.1.0-pip-xla '^xla: clusters compiled: [1-9]'
said pytorch-1.4.0-pip '^torch 1\.4\.0, CPU,'
said mxnet-1.6.0-pip 'MKL-DNN none$'
said mxnet-1.6.0-vendor 'MKL-DNN inside$'
said cntk-2.7-pip '^cntk 2\.7'
if [ $ngraph = built ]; then
  said tensorflow-1.14.0-pip-ngraph ', [1-9][0-9]* operations encapsulated$'
else
  said tensorflow-1.14.0-pip-ngraph "not Intel's"
fi

expect $status "$KILN" publish -f "$matrix"
sifs=(.kiln/sif/*.sif)
equals "${#sifs[@]}" $images
expect 0 "$KILN" index list --format json
for image in $(json '" ".join(sorted(one["name"] for one in it))'); do
  expect 0 "$KILN" index show "$image"
  equals "$image $(json 'it["evidence"]["verdict"]')" "$image conforms"
done

# An image is for hosts of the vendor that its components name.
cat >ngraph.json <<'DSL'
{"optimisation": {
  "enable_opt_build": true,
  "app_type": "ai_training",
  "app_type-ai_training": {
    "config": {"ai_framework": "tensorflow"},
    "ai_framework-tensorflow": {"version": "1.14", "ngraph": true}}}}
DSL
if [ $ngraph = built ]; then
  expect 0 "$KILN" select --dsl ngraph.json --host haswell
  equals "$out" tensorflow:1.14.0-pip-ngraph-x86_64_v3-bullseye
  expect 4 "$KILN" select --dsl ngraph.json --host zen3 --explain
  holds "$out$err" 'tensorflow:1.14.0-pip-ngraph-x86_64_v3-bullseye: needs a processor of GenuineIntel; host has one of AuthenticAMD'
  expect 0 "$KILN" build -f "$matrix" --format json
  equals "$(json '{image["verdict"] for image in it["images"]}')" "{'up to date'}"
fi
echo "paper-debian: $images images"
