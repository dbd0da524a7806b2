#!/usr/bin/env bash
# kiln against `apptainer build` on one image, with its layers as gzip and as zstd; one JSON line a figure.
#   tests/bench/sif.sh IMAGE FOLDER      IMAGE: oci:DIR[:TAG]; KILN: the program (default: build/release/kiln, after
#                                        `cmake --build build/release --target bench`); KILN_BENCH_ONLY=1: without Apptainer;
#                                        KILN_BENCH_RUNS=N: kiln and its parts in turn N times, and the least CPU times
# Both read the same layout from a warm page cache. Wall seconds, CPU seconds, peak memory in KB, output bytes.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kiln=${KILN:-$source/build/release/kiln}
image=${1:?usage: tests/bench/sif.sh oci:DIR[:TAG] FOLDER}
mkdir -p "${2:?usage: tests/bench/sif.sh oci:DIR[:TAG] FOLDER}"
cd "$2"
chmod 777 .

measure() { # name, output, command...
  local name=$1 output=$2
  shift 2
  rm -f "$output"
  /usr/bin/time -o figures -f '%e %U %S %M' "$@" >log 2>&1 || { cat log >&2; exit 1; }
  read -r wall user system memory <figures
  printf '{"figure":"%s","seconds":%s,"cpu":%s,"peak_kb":%s,"bytes":%s}\n' "$name" "$wall" \
    "$(awk "BEGIN {print $user + $system}")" "$memory" "$(stat -c %s "$output")"
}

for kind in gzip zstd; do
  [ -d "$kind" ] || skopeo copy --quiet --dest-compress --dest-compress-format "$kind" "$image" "oci:$kind"
  cat "$kind"/blobs/sha256/* >/dev/null
  # What cannot be done without, by the same libraries: the rest of kiln's CPU time is its own.
  : >rounds
  for ((run = 0; run < ${KILN_BENCH_RUNS:-1}; ++run)); do
    measure "kiln $kind" kiln.sif "$kiln" -q sif "oci:$kind" -o kiln.sif
    parts=$("$(dirname "$kiln")/tests/bench/sif_parts" "$kind")
    echo "{\"cpu\": $(awk "BEGIN {print $user + $system}"), \"parts\": $parts}" >>rounds
  done
  ours=$wall our_size=$(stat -c %s kiln.sif)
  python3 - "parts $kind" <<'PY'
import json, sys
rounds = [json.loads(line) for line in open("rounds")]
parts = min((one["parts"] for one in rounds), key=lambda parts: sum(parts.values()))
cpu = min(one["cpu"] for one in rounds)
print(json.dumps({"figure": sys.argv[1], **parts, "kiln_cpu": cpu, "cpu_ratio": round(cpu / sum(parts.values()), 3)}))
PY
  if [ -z "${KILN_BENCH_ONLY:-}" ]; then
    measure "apptainer $kind" apptainer.sif "$source/ci/apptainer" run build --fakeroot apptainer.sif "oci:$kind"
    awk "BEGIN {printf \"{\\\"figure\\\":\\\"ratio $kind\\\",\\\"times_faster\\\":%.1f,\\\"size\\\":%.3f}\\n\", $wall / $ours, $our_size / $(stat -c %s apptainer.sif)}"
  fi
done
