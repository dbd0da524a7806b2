#!/usr/bin/env bash
# kiln scale: tables, JSON and the picture; documents; wrong input.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

# 1. The oracle: the ranking at the most ranks, and the steps of the first strategy.
expect 0 "$KILN" scale --network vgg16 --ranks 1..512
holds "$out" 'At 512 ranks:'
holds "$out" 'at most 64 ranks: 64 filters of the narrowest layer'
holds "$out" 'transfer of the gradients'
holds "$out" 'best: 512 ranks, data: an epoch of'
expect 0 "$KILN" scale --network resnet50 --strategy data --ranks 2,1024 --json
equals "$(json '(it["best"], [round(s["steps"] * s["gradients_seconds"], 3) for s in it["strategies"][0]["steps"]])')" \
  "({'ranks': 1024, 'strategy': 'data'}, [18.367, 1.558])"

# A network of a file; the time of a sample is in it, or among the words.
echo '{"name": "mine", "input": {"channels": 1, "side": 28}, "batch": 64, "samples": 60000, "layers": [
  {"type": "convolution", "filters": 32, "kernel": 3, "side": 26}, {"type": "pool", "side": 13}, {"type": "dense", "outputs": 10}]}' >mine.json
expect 0 "$KILN" scale --network mine.json --seconds 0.001 --strategy data --ranks 1,2 --json
equals "$(json 'it["network"], [s["ranks"] for s in it["strategies"][0]["steps"]]')" 'mine [1, 2]'
expect 3 "$KILN" scale --network mine.json
holds "$err" '"seconds" in its file'
edit 's/"pool"/"attention"/' mine.json
expect 3 "$KILN" scale --network mine.json
holds "$err" "mine.json:2:77: error: unknown layer type 'attention' (at /layers/1/type)"
expect 3 "$KILN" scale --network no.json

# 2. The picture is an SVG that a parser of XML reads.
expect 0 "$KILN" scale --network alexnet --svg alexnet.svg
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' alexnet.svg || fail 'no XML'

# 3. A law, and one that is fitted.
expect 0 "$KILN" scale --model amdahl:0.9 --efficiency 0.5 --ranks 80
holds "$out" 'chosen: 11 of 80 ranks'
expect 0 "$KILN" scale --times 1:142.24,2:104.44,4:87.12,6:73.03 --ranks 10,14 --json
equals "$(json '[round(e["efficiency"], 4) for e in it["efficiencies"]]')" '[0.1954, 0.1439]'

# 4. A document: its ranks are the most, its efficiency the least.
echo '{"job": {"application": {"executable": "./x", "mpi_ranks": 80, "minimal_efficiency": 0.5},
  "optimisation": {"workload": "resnet50"}}}' >job.json
expect 0 "$KILN" scale --dsl job.json --model amdahl:0.9
holds "$out" 'chosen: 11 of 80 ranks'
expect 0 "$KILN" scale --dsl job.json --strategy data
holds "$out" 'At 80 ranks:'
expect 0 "$KILN" scale --dsl - --strategy data <job.json

# 5. Wrong input; nothing is written.
expect 2 "$KILN" scale
expect 2 "$KILN" scale --model noop --svg no.svg
expect 2 "$KILN" scale --network vgg16 --strategy tensor
mkdir pictures
expect 2 "$KILN" scale --network vgg16 --svg pictures
holds "$err" "error: --svg: 'pictures' is a folder; name a file"
mkdir other && cp job.json other
expect 2 "$KILN" job --dsl job.json -o pictures
holds "$err" "error: --output: 'pictures' is a folder; name a file"
expect 0 "$KILN" -C other scale --network vgg16 --svg pictures # a folder here, and none there
[ -f other/pictures ] || fail 'no picture'
for ranks in 8..1 0..4 1..1000000000000 1..1000000:1 nan; do
  expect 3 "$KILN" scale --network vgg16 --ranks "$ranks" --svg no.svg
  holds "$err" 'error: --ranks: '
done
expect 3 "$KILN" scale --network vgg16 --seconds nan
holds "$err" "--seconds: 'nan' is not a number over 0"
expect 3 "$KILN" scale --times 1:3,2:2
holds "$err" 'at least 3 are needed'
[ ! -e no.svg ] || fail 'a picture'
