#!/usr/bin/env bash
# Results of other projects: kiln bench import --as timm and --as openvino, kiln bench tables, kiln model
# --tables.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
published=$KILN_SOURCE/tests/data/model/timm

# 1. Every eighth row of the published tables: rows without operations have those of the other tables.
for file in "$published"/*.csv; do awk 'NR == 1 || NR % 8 == 0' "$file" >"${file##*/}"; done
expect 4 "$KILN" model check --state state --tables
holds "$err" 'no table of results was imported'
for file in benchmark-*.csv; do expect 0 "$KILN" bench import --state state "$file" --as timm; done
holds "$out" '179 results of i9_10940x, pytorch 2.4.0, inductor, nchw, fp32, huggingface/pytorch-image-models, results/benchmark-infer'
holds "$out" 'not measured here: only '
expect 0 "$KILN" bench tables --state state --format json
equals "$(json '[(one["host"], one["version"], one["licence"]) for one in it]')" \
  "[('i7_12700h', '2.4.0', 'Apache-2.0'), ('i9_10940x', '2.2.1', 'Apache-2.0'), ('i9_10940x', '2.4.0', 'Apache-2.0')]"
expect 0 "$KILN" bench tables --state state
holds "$out" 'i7_12700h, pytorch 2.4.0, inductor, nchw, fp32'

# 2. They are no measurements: nothing else sees them.
expect 4 "$KILN" bench compare --state state host=i7_12700h host=i9_10940x
holds "$err" 'there is no run of host=i7_12700h'
expect 3 "$KILN" model fit --state state
holds "$err" '0 measured images are too few'
expect 2 "$KILN" model publish --state state --tables
expect 2 "$KILN" model fit --state state --tables --runs x.json

# 3. The model learns from them.
expect 0 "$KILN" model fit --state state --tables
holds "$out" 'used: operations: '
holds "$out" 'used: host: '
holds "$out" "used: network_family: first word of the network's name, to find near records"
expect 0 "$KILN" model check --state state --tables
holds "$out" 'workload left out: median error '
holds "$out" 'host left out, 10 anchors measured: median error '
expect 0 "$KILN" model check --state state --tables --json
equals "$(json '[(check["left_out"], check.get("anchors")) for check in it]')" \
  "[('image', None), ('workload', None), ('host', None), ('image', 10), ('host', 10)]"

# Twelve networks of a host predict another one of it, by its time on the other host.
full=$published/benchmark-infer-fp32-nchw-pt240-cpu-i7_12700h-dynamo.csv
few=benchmark-infer-fp32-nchw-pt240-cpu-new-dynamo.csv
awk -F, 'NR == 1 || NR % 40 == 0 && $1 != "resnet50" && n++ < 12' "$full" >"$few"
expect 0 "$KILN" bench import --state anchored "$few" --as timm
expect 0 "$KILN" bench import --state anchored "$published/benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv" --as timm
expect 0 "$KILN" model predict --state anchored --tables --workload resnet50@224 --set host=new
holds "$out" 'of the 12 workloads that were measured in both places'
holds "$out" 'on i9_10940x'
expect 0 "$KILN" model predict --state anchored --tables --workload resnet50@224 --set host=new --json
truth=$("$KILN_PYTHON" -c '
import csv, sys
print(next(row["infer_step_time"] for row in csv.DictReader(open(sys.argv[1])) if row["model"] == "resnet50" and row["infer_img_size"] == "224"))' "$full")
equals "$(json "0.7 < it['seconds'] * 1000 / $truth < 1.4 and it['low'] < it['seconds'] < it['high']")" True

# 4. Wrong tables are refused with their place, and nothing is kept of them.
sed '3s/,[0-9.]*,/,-1,/' benchmark-infer-fp32-nchw-pt240-cpu-i7_12700h-dynamo.csv >benchmark-infer-fp32-nchw-pt240-cpu-other.csv
expect 3 "$KILN" bench import --state state benchmark-infer-fp32-nchw-pt240-cpu-other.csv --as timm
holds "$err" 'benchmark-infer-fp32-nchw-pt240-cpu-other.csv:3:'
holds "$err" "img_size: expected a number over 0, 65536 at most, found '-1'"
expect 3 "$KILN" bench import --state state benchmark-infer-fp32-nchw-pt240-cpu-i7_12700h-dynamo.csv
holds "$err" 'say --as timm to import a results table of timm'
cp benchmark-infer-fp32-nchw-pt240-cpu-i7_12700h-dynamo.csv ours.csv
expect 2 "$KILN" bench import --state state ours.csv --as timm
holds "$err" "does not say the host; say --set host=VALUE"
expect 2 "$KILN" bench import --state state ours.csv --as csv --set host=ours
expect 0 "$KILN" bench tables --state state --format json
equals "$(json 'len(it)')" 3

# 5. A series is replaced, and removed.
expect 0 "$KILN" bench import --state state benchmark-infer-fp32-nchw-pt240-cpu-i7_12700h-dynamo.csv --as timm --set source=mirror
expect 0 "$KILN" bench tables --state state --remove 'i7_12700h, pytorch 2.4.0, inductor, nchw, fp32'
expect 4 "$KILN" bench tables --state state --remove 'i7_12700h, pytorch 2.4.0, inductor, nchw, fp32'

# 6. OpenVINO's file has a table for each CPU and precision. They have no operations: only anchors predict them.
openvino=$KILN_SOURCE/tests/data/model/openvino/OV-benchmark-data.csv
expect 0 "$KILN" bench import --state openvino "$openvino" --as openvino
holds "$out" '585 results of 19 hosts in 39 series, openvino 2022.3, openvinotoolkit/openvino, docs/'
holds "$out" 'left out: 255 results of a GPU, or of a CPU and a GPU together'
expect 0 "$KILN" bench import --state openvino "$openvino" --as openvino --set licence=mine
holds "$err" 'note: replaces 39 earlier tables'
expect 0 "$KILN" bench tables --state openvino --format json
equals "$(json '[(one["series"], one["rows"], one["licence"]) for one in it if one["host"] == "xeon-gold-6448y"]')" \
  "[('xeon-gold-6448y, openvino 2022.3, fp16', 15, 'mine'), ('xeon-gold-6448y, openvino 2022.3, fp32', 15, 'mine'), ('xeon-gold-6448y, openvino 2022.3, int8', 15, 'mine')]"
expect 0 "$KILN" model check --state openvino --tables --json
holds "$err" 'note: only anchors predict 585 results of openvino 2022.3 (39 series): no table has their operations'
equals "$(json '[(check["left_out"], check["anchors"], check["used"]) for check in it]')" \
  "[('image', 7, False), ('host', 7, True)]"
equals "$(json 'it[1]["median_error"] < 0.03')" True
expect 3 "$KILN" model fit --state openvino --tables
holds "$err" 'no imported table has the operations of its networks'

# Tables of both projects do not change each other's records.
expect 0 "$KILN" bench tables --state state --format json
expect 0 "$KILN" model check --state state --tables --json
timm=$(json '[check["median_error"] for check in it if check["left_out"] == "workload"]')
expect 0 "$KILN" bench import --state state "$openvino" --as openvino
expect 0 "$KILN" model check --state state --tables --json
equals "$(json '[check["median_error"] for check in it if check["left_out"] == "workload"]')" "$timm"

# A network that a host's table lacks.
grep -v '^resnet-50,.*i3-8100' "$openvino" >without.csv
expect 0 "$KILN" bench import --state without without.csv --as openvino
expect 0 "$KILN" model predict --state without --tables --workload resnet-50 --set host=core-i3-8100 --set precision=fp32
holds "$out" 'of the 14 workloads that were measured in both places'
expect 0 "$KILN" model predict --state without --tables --workload resnet-50 --set host=core-i3-8100 --set precision=fp32 --json
equals "$(json '0.9 < it["seconds"] * 52.896 < 1.1')" True
expect 4 "$KILN" model predict --state without --tables --workload resnet-50 --set host=core-i3-8100
holds "$err" 'no anchors answer the question'

# 7. A wrong file is refused with its place, and no table of it is kept.
refused() { # FILE TEXT
  expect 3 "$KILN" bench import --state none "$1" --as openvino
  holds "$err" "$2"
  expect 4 "$KILN" model check --state none --tables
}
sed '3s/,163.72,/,-163.72,/' "$openvino" >wrong.csv
refused wrong.csv "wrong.csv:3:74: error: Throughput-INT8: expected a number over 0, 1e+09 at most, found '-163.72'"
sed '2d' "$openvino" >wrong.csv
refused wrong.csv "wrong.csv:2:1: error: 'bert-base-cased' is not between begin_rec and end_rec"
sed '4s/iGPU-only/CPU-only/' "$openvino" >wrong.csv
refused wrong.csv 'wrong.csv:4:43: error: a second row of bert-base-cased on core-i9-13900k; the first is line 3'
sed '1s/Release,//' "$openvino" >wrong.csv
refused wrong.csv "wrong.csv:1:1: error: the table has no column 'Release'"
head -c 30000 "$openvino" >wrong.csv
refused wrong.csv 'wrong.csv:'
iconv -f utf-8 -t latin1//TRANSLIT "$openvino" >wrong.csv
refused wrong.csv 'wrong.csv:3:43: error: a table has visible characters of UTF-8 only'
: >wrong.csv
refused wrong.csv 'wrong.csv:1:1: error: the table is empty'
head -c 100000000 /dev/zero >wrong.csv
refused wrong.csv 'wrong.csv'
refused "$published/benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv" "OpenVINO's tables have no column 'model'"
expect 2 "$KILN" bench import --state none "$openvino" --as openvino --set host=ours
holds "$err" "the host of OpenVINO's results is in the table; --set replaces source and licence only"
expect 3 "$KILN" bench import --state none "$openvino"
holds "$err" 'say --as openvino to import the results table of OpenVINO'
