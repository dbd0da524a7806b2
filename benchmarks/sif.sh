#!/usr/bin/env bash
# kiln against `apptainer build` on one image, with its layers as gzip and as zstd, and what reading an image costs besides: samples on
# stdout, a line of JSON each (ci/bench).
#   benchmarks/sif.sh IMAGE FOLDER      IMAGE: oci:DIR[:TAG]; KILN: the program (default: build/release/kiln, after
#                                        `cmake --build build/release --target bench`); KILN_BENCH_ONLY=1: without Apptainer;
#                                        KILN_BENCH_RUNS=N: kiln and its parts in turn N times (default 3)
# All read the same layout from a warm page cache. Wall seconds, CPU seconds, peak memory and output in bytes.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kiln=${KILN:-$source/build/release/kiln}
image=${1:?usage: benchmarks/sif.sh oci:DIR[:TAG] FOLDER}
mkdir -p "${2:?usage: benchmarks/sif.sh oci:DIR[:TAG] FOLDER}"
cd "$2"
chmod 777 .
runs=${KILN_BENCH_RUNS:-3}

measure() { # series, output, command...
  local name=$1 output=$2 wall user system memory
  shift 2
  rm -f "$output"
  /usr/bin/time -o figures -f '%e %U %S %M' "$@" >log 2>&1 || { cat log >&2; exit 1; }
  read -r wall user system memory <figures
  printf '{"series": "%s", "wall": %s, "cpu": %s, "rss": %s' "$name" "$wall" "$(awk "BEGIN {print $user + $system}")" $((memory * 1024))
  if [ -n "$output" ]; then printf ', "bytes": %s' "$(stat -c %s "$output")"; fi
  echo '}'
}

for kind in gzip zstd; do
  [ -d "$kind" ] || skopeo copy --quiet --dest-compress --dest-compress-format "$kind" "$image" "oci:$kind"
  cat "$kind"/blobs/sha256/* >/dev/null
  for ((run = 0; run < runs; ++run)); do
    measure "kiln_$kind" kiln.sif "$kiln" -q sif "oci:$kind" -o kiln.sif
    # What cannot be done without, by the same libraries: the rest of kiln's CPU time is its own.
    printf '{"series": "parts_%s", %s\n' "$kind" "$("$(dirname "$kiln")/benchmarks/sif_parts" "$kind" | cut -c 2-)"
  done
  if [ -z "${KILN_BENCH_ONLY:-}" ]; then
    measure "apptainer_$kind" apptainer.sif "$source/ci/apptainer" run build --fakeroot apptainer.sif "oci:$kind"
  fi
done
for ((run = 0; run < runs; ++run)); do
  measure check '' "$kiln" -q sif check kiln.sif
  # 1: the image has code beyond this target, which is a finding and no failure.
  measure evidence '' sh -c '"$@" || [ $? -eq 1 ]' sh "$kiln" -q inspect oci:gzip --evidence --target x86_64
done

# A layer of a million empty files.
if [ ! -d million ]; then
  python3 - <<'PYTHON'
import hashlib, json, pathlib, tarfile
blobs = pathlib.Path("million/blobs/sha256")
blobs.mkdir(parents=True)
with tarfile.open("million.tar", "w", format=tarfile.USTAR_FORMAT) as layer:
    for number in range(1000000):
        layer.addfile(tarfile.TarInfo(f"d{number // 1000}/file{number}"))
def keep(data):
    digest = hashlib.sha256(data).hexdigest()
    (blobs / digest).write_bytes(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}
layer = keep(pathlib.Path("million.tar").read_bytes())
pathlib.Path("million.tar").unlink()
config = keep(json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode())
kind = "application/vnd.oci.image."
manifest = keep(json.dumps({"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "config": {"mediaType": kind + "config.v1+json", **config},
                            "layers": [{"mediaType": kind + "layer.v1.tar", **layer}]}).encode())
pathlib.Path("million/index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [{"mediaType": kind + "manifest.v1+json", **manifest}]}))
pathlib.Path("million/oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
PYTHON
fi
measure million million.sif "$kiln" -q sif oci:million -o million.sif
measure million_checked million.sif "$kiln" -q sif oci:million -o million.sif --check
