#!/usr/bin/env bash
# kiln import: a legacy tree becomes recipes and a matrix that plan, lint-free shell and all; nothing is overwritten.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
legacy=$KILN_SOURCE/tests/data/legacy

expect 0 "$KILN" import "$legacy" -o out
equals "$out" out/matrix/imported.json
holds "$err" 'tensorflow/tf-1.14-gpu-pip.Dockerfile:8: USER: '
holds "$err" 'pytorch/pytorch-1.4-gpu-pip.Dockerfile:5: differs: pip torch: ==1.4.0 / pytorch/pytorch-1.4-gpu-pip.def:8: ==1.5.0'
holds "$err" '24 images from 39 files; '

# The same cells, no more and no less, and their files can be generated.
expect 0 "$KILN" plan -f out/matrix/imported.json --format json
equals "$(json 'len(it["cells"])')" 24
equals "$(json 'all(cell["reason"].startswith("exclude at ") for cell in it["excluded"])')" True
expect 0 "$KILN" generate -f out/matrix/imported.json -o generated
equals "$(echo "$out" | wc -l)" 24

# What kiln generated is kiln's own, and not imported once more.
expect 3 "$KILN" import generated -o more
holds "$err" 'kiln itself generated all 48 files below generated, from 24 cells: there is nothing to import'
[ ! -e more ] || fail 'nothing was imported, and something written'

# A base that no registry has is decided by --base.
expect 0 "$KILN" import "$legacy" -n --base yum=docker.io/library/centos:7
holds "$err" "old-cluster.def:1: docker.io/library/centos:7 takes the place of 'yum' [given-base]"
expect 2 "$KILN" import "$legacy" -n --base yum

# Nothing is overwritten, and a dry run writes nothing.
expect 2 "$KILN" import "$legacy" -o out
holds "$err" 'out is there already, and nothing is overwritten'
mkdir empty
expect 0 "$KILN" import "$legacy" -o empty -q
expect 0 diff -r out empty
expect 0 "$KILN" import "$legacy" -n -o other
equals "$out" ''
[ ! -e other ] || fail 'a dry run writes'

# The report as JSON, on stdout alone.
expect 0 "$KILN" import "$legacy" -n --format json -q
equals "$err" ''
equals "$(json 'len(it["images"])')" 24
equals "$(json 'sorted(it)')" "['differences', 'files', 'images', 'kilns_own', 'left_out', 'matrix']"
equals "$(json '[d["what"] for d in it["differences"] if d["file"] == "tensorflow/tf-2.1-cpu-pip.Dockerfile"]')" "['base']"

# Twice is the same.
expect 0 "$KILN" import "$legacy" -o again -q
expect 0 diff -r out again

# Mistakes.
expect 3 "$KILN" import nowhere
holds "$err" "there is no folder 'nowhere'"
mkdir none
expect 3 "$KILN" import none
holds "$err" 'no Dockerfile and no definition file below none'
mkdir bad
echo 'FRMO x' >bad/Dockerfile
expect 3 "$KILN" import bad -o out2
holds "$err" "Dockerfile:1: unknown instruction 'FRMO'; did you mean 'FROM'?"
[ ! -e out2 ] || fail 'a failed import writes'
expect 2 "$KILN" import "$legacy" -o out3 --name a/b
expect 3 "$KILN" import "$legacy" -o out3 --cpu haswel
holds "$err" 'haswel'
# What a killed import left beside its place goes with the next one.
mkdir -p deep "deep/new.part-$(hostname)-aB3dE6/whole/recipes"
expect 0 "$KILN" import "$legacy" -o deep/new -q
equals "$(ls -A deep)" new
expect 0 diff -r out deep/new
equals "$(stat -c %a deep/new)" "$(stat -c %a deep)"
for left in ./*.part-*; do
  [ ! -e "$left" ] || fail "$left is left behind"
done
echo "import: a legacy tree in, a plan out"
