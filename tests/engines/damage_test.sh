#!/usr/bin/env bash
# Damage in the store, with the real program and the real buildah: what each kind of blob being flipped, cut, emptied or
# deleted does to select, build and fsck, and that the next build leaves everything as it was.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
expect 0 "$KILN" build -f "$matrix" -j 2 --format json
equals "$(json 'it["built"]')" 7
expect 0 "$KILN" publish -f "$matrix"
cat >query.json <<'J'
{"optimisation": {"enable_opt_build": false, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"},
 "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "2.1"}}}}
J
expect 0 "$KILN" select --dsl query.json
winner=$out

# blob KIND: the file of a blob of the image that select answers with.
blob() {
  "$KILN_PYTHON" - "$1" "$winner" <<'P'
import glob, json, sys
kind, name = sys.argv[1:]
def blob(digest):
    hexa = digest.split(":")[1]
    return ".kiln/store/sha256/%s/%s" % (hexa[:2], hexa)
image = [one for one in map(json.load, map(open, glob.glob(".kiln/built/*.json"))) if one["repository"] + ":" + one["tag"] == name][0]
manifest = json.load(open(blob(image["manifest"])))
kinds = {one["kind"]: one for one in image["attachments"]}
print({"base": blob(manifest["layers"][0]["digest"]), "layer": blob(manifest["layers"][-1]["digest"]), "manifest": blob(image["manifest"]),
       "configuration": blob(manifest["config"]["digest"]), "sif": blob(kinds["sif"]["blob"]["digest"]),
       "document": blob(kinds["spdx"]["blob"]["digest"]), "referrer": blob(kinds["spdx"]["referrer"])}[kind])
P
}
damage() { # damage HOW FILE
  case $1 in
    flip) "$KILN_PYTHON" -c 'import sys; f = open(sys.argv[1], "r+b"); b = bytearray(f.read()); b[len(b) // 2] ^= 4; f.seek(0); f.write(b)' "$2" ;;
    cut) truncate -s "$(($(stat -c %s "$2") / 2))" "$2" ;;
    empty) : >"$2" ;;
    delete) rm "$2" ;;
  esac
}
sums() { find .kiln/store/sha256 -type f -exec sha256sum {} + | sort; }
whole=$(sums)
cp -a .kiln whole.kiln

# 1. What is missing, cut or empty: select refuses it, fsck names it, one build makes it again and runs no more than it must.
damage_and_build() { # damage_and_build KIND HOW FORMAT
  kind=$1
  file=$(blob "$kind")
  damage "$2" "$file"
  expect 8 "$KILN" select --dsl query.json --format "$3"
  equals "$out" ''
  holds "$err" "$winner is damaged: "
  holds "$err" "sha256:${file##*/}"
  holds "$err" 'kiln index fsck --repair'
  expect 8 "$KILN" index fsck
  holds "$out" "sha256:${file##*/}"
  expect 0 "$KILN" plan -f "$matrix" --format json
  wanted='to package'
  case $kind in base | layer) wanted='to build' ;; esac
  equals "$(json '{cell["state"] for cell in it["cells"] if cell["repository"] + ":" + cell["tag"] == "'"$winner"'"}')" "{'$wanted'}"
  expect 0 "$KILN" build -f "$matrix" --format json
  ran=0
  case $kind in
    base) ran=1 ;;
    layer) ran=2 ;; # two images have the same file upon different steps: one blob, promised by both
  esac
  equals "$(grep -c '^start  [bh]' <<<"$err" || true)" "$ran"
  [ "$(sums)" = "$whole" ] || fail "$kind $2: the store is not as it was"
}
# Each kind and each way; every pair of them, and what combines, is the damage loop's (image.damage).
damage_and_build layer cut tag
damage_and_build layer delete sif
damage_and_build manifest empty oci
damage_and_build sif delete sif
damage_and_build document cut tag
damage_and_build base cut sif
damage_and_build configuration empty tag
damage_and_build referrer delete oci
expect 0 "$KILN" select --dsl query.json --format sif
expect 0 "$KILN" build -f "$matrix"
holds "$out" 'nothing to do'
expect 0 "$KILN" index fsck --deep

# The engine's folder in a copy of the state is not believed and starts anew, and what it imports then adds descriptions to the store.
all_whole() {
  local gone
  gone=$(comm -23 <(echo "$whole") <(sums))
  [ -z "$gone" ] || fail "$1: not as it was: $gone"
  expect 0 "$KILN" index fsck --deep
}

# 2. A flipped bit is found by whoever reads every byte; --repair takes the blob away, or makes it again, and the build the rest.
# Two steps make the layer, so a layout may have a copy of its own, which --repair takes: that depends on which step ended first. Here
# no layout has one; what a copy restores is below.
for kind in base layer manifest sif document; do
  rm -rf .kiln && cp -a whole.kiln .kiln
  file=$(blob "$kind")
  find .kiln/images -name "${file##*/}" -exec ln -f "$file" {} \;
  damage flip "$file"
  expect 8 "$KILN" index fsck --deep --format json
  equals "$(json 'len(it["damage"])')" 1
  holds "$out" "sha256:${file##*/}"
  status=0
  "$KILN" index fsck --deep --repair >repair.out 2>&1 || status=$?
  case $kind in
    base | layer)
      equals "$status" 8
      holds "$(cat repair.out)" ' runs the step'
      ;;
    *) equals "$status" 0 ;;
  esac
  expect 0 "$KILN" build -f "$matrix"
  all_whole "$kind flipped"
done

# 3. A flipped layer is found as it is used, by the build itself, also when the engine has nothing kept.
rm -rf .kiln && cp -a whole.kiln .kiln
damage flip "$(blob layer)"
rm -rf .kiln/images/hello # they are packaged again, of their layers
expect 0 "$KILN" build -f "$matrix" --format json
all_whole 'a flipped layer, found by packaging'
rm -rf .kiln && cp -a whole.kiln .kiln
damage flip "$(blob base)"
rm -rf .kiln/engine .kiln/tests .kiln/built
expect 0 "$KILN" build -f "$matrix" --format json
all_whole 'a flipped base, found by a test'

# 4. A copy in a layout restores what was deleted; a layout that lost a file is made again.
rm -rf .kiln && cp -a whole.kiln .kiln
rm "$(blob base)" "$(blob layer)" "$(blob document)"
expect 0 "$KILN" index fsck --repair
holds "$out" 'restored from images/hello/'
holds "$out" '3 damaged, 3 mended'
[ "$(sums)" = "$whole" ] || fail 'restored from copies: the store is not as it was'
rm .kiln/images/hello/2.1-*/index.json
find .kiln/images/hello/2.10-*/blobs -type f -delete
expect 8 "$KILN" select --dsl query.json --format oci
expect 8 "$KILN" index fsck
expect 0 "$KILN" index fsck --repair
expect 0 "$KILN" index fsck --deep
expect 0 "$KILN" select --dsl query.json --format oci
expect 0 skopeo inspect --config "$out"

# 5. Damaged records of the state folder are no records.
for folder in built steps; do
  rm -rf .kiln && cp -a whole.kiln .kiln
  for file in .kiln/"$folder"/*.json; do damage cut "$file"; done
  expect 8 "$KILN" index fsck
  holds "$out" "$folder/"
  if [ "$folder" = steps ]; then rm .kiln/built/*; fi
  expect 0 "$KILN" build -f "$matrix" --format json
  equals "$(json 'it["failed"]')" 0
  [ "$(sums)" = "$whole" ] || fail "$folder cut: the store is not as it was"
done
echo "damage: noticed and healed"
