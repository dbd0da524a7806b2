#!/usr/bin/env bash
# Proof of what is inside, as a step of a build with the real engine: a program compiled for too much fails its images and
# no others; the site may ask for a report only; what was found is in labels, sidecar and index, and survives the index.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
[ "$(uname -m)" = x86_64 ] || exit 77

cp -r "$tiny" tiny
matrix=tiny/tiny.json
edit '/"include": \[/,/\],/d' tiny/tiny.json
edit '/"exclude"/d' tiny/tiny.json

cat >solve.c <<'C'
__attribute__((noinline)) static void kernel(float *x, long n) {
  for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1;
}
int main(int n, char **v) {
  if (n > 100) kernel((float *)v, n);
  return 0;
}
C
gcc -O3 -march=skylake-avx512 -mprefer-vector-width=512 -o solve solve.c
library=tiny/recipes/library/fast
base64 solve >$library/solve.b64
edit 's/"script": "distro.sh",/"script": "distro.sh", "files": ["solve.b64"],/' $library/recipe.json
echo 'mkdir -p /opt/kiln/fast/bin && base64 -d <solve.b64 >/opt/kiln/fast/bin/solve && chmod 755 /opt/kiln/fast/bin/solve' >>$library/distro.sh

# 1. The image with the program fails, with file, function, address and instruction; the other is built.
expect 1 "$KILN" build -f "$matrix" version=2.10 --format json
equals "$(json '{image["verdict"] for image in it["images"] if "fast" in image["name"]}')" "{'failed'}"
equals "$(json '{image["verdict"] for image in it["images"] if "fast" not in image["name"]}')" "{'built'}"
reason=$(json '[image["reason"] for image in it["images"] if "fast" in image["name"]][0]')
for part in 'code exceeds the target x86_64' /opt/kiln/fast/bin/solve kernel ' at 0x' avx512; do
  holds "$reason" "$part"
done
log=$(json '[image["log"] for image in it["images"] if "fast" in image["name"]][0]')
holds "$(cat "$log")" 'beyond the target'

# 2. A site that only wants to know gets its images, with the verdict on them.
echo '{"evidence": "report"}' >site.json
expect 0 "$KILN" build -f "$matrix" version=2.10 --format json
expect 0 "$KILN" publish -f "$matrix" version=2.10
name=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print([i["name"] for i in json.load(sys.stdin) if "fast" in i["name"] and "turbo" not in i["name"]][0])')
expect 0 "$KILN" index show "$name"
equals "$(json 'it["evidence"]["verdict"]')" exceeds
equals "$(json '"avx512f" in it["evidence"]["unconditional"]')" True
equals "$(json 'it["labels"]["io.kiln.evidence.verdict"]')" exceeds
report=$(json 'it["evidence"]["report"].split(":")[1]')
[ -s ".kiln/store/sha256/${report:0:2}/$report" ] || fail 'the report is not in the store'
layout=$(json 'it["layout"]')

# 3. The image carries its labels; another look at it comes to the same verdict.
expect 0 "$KILN" inspect "oci:.kiln/$layout" --format json
equals "$(json 'it["config"]["config"]["Labels"]["io.kiln.evidence.verdict"]')" exceeds
expect 1 "$KILN" inspect "$name" --evidence --format json
equals "$(json 'it["verdict"]')" exceeds
equals "$(json '{found["symbol"] for found in it["beyond_target"]} >= {"kernel"} or it["beyond_target"][0]["symbol"].startswith("kernel")')" True
expect 0 "$KILN" inspect "$name" --evidence --target skylake_avx512
holds "$out" 'conforms'
expect 1 "$KILN" inspect "$name" --evidence --target x86_64_v3
expect 2 "$KILN" inspect "$name" --evidence --target skylake_avx51
holds "$err" 'skylake_avx512'

# 4. The index made again from the sidecars has it all.
rm .kiln/index.db
expect 0 "$KILN" index recover
expect 0 "$KILN" index show "$name"
equals "$(json 'it["evidence"]["verdict"]')" exceeds

# 5. Nothing to do costs nothing.
expect 0 "$KILN" build -f "$matrix" version=2.10
holds "$out" 'nothing to do'

# 6. Code for any processor in an image that promises Haswell's.
gcc -O3 -o solve solve.c
base64 solve >$library/solve.b64
echo '{"cpu": "haswell"}' >tiny/targets/plain.json
expect 0 "$KILN" build -f "$matrix" version=2.10 library=fast
expect 0 "$KILN" publish -f "$matrix" version=2.10
expect 0 "$KILN" index list --format json
equals "$(json '{i["evidence"]["verdict"] for i in it if "fast" in i["name"] and "turbo" not in i["name"]} & {"not optimised"}')" "{'not optimised'}"
echo 'evidence: fails, reports, stays'
