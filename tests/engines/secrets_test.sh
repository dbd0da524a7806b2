#!/usr/bin/env bash
# Twenty secrets, half of them in files and half in variables, go through every kind of script, which prints each to its log: they arrive,
# at the scripts that name them alone, and are in nothing that is kept. Then the generated files, with the real buildah and Apptainer.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

canary='canary-9b41e7'
chmod 755 "$work"
cp -r "$tiny" tiny
matrix=tiny/tiny.json

# 1. The secrets, and recipes that name them.
mkdir -m 700 secrets
site=
for number in $(seq 20); do
  name=s$number
  case $number in
    3) text=$(printf 'machine example.org login me password %s-3\nmachine other.org password %s-3b' "$canary" "$canary") ;;
    9) text="{\"token\": \"$canary-9\"}" ;;
    *) text=$canary-$number ;;
  esac
  printf '%s\n' "$text" >"secrets/$name"
  if [ $((number % 2)) = 0 ]; then
    printf '%s' "$text" >"secrets/$name" # a variable has no line's end
    export "SITE_S$number=$text"
    site+=", \"$name\": {\"environment\": \"SITE_S$number\"}"
  else
    site+=", \"$name\": \"$work/secrets/$name\""
  fi
done
echo "{\"secrets\": {${site#, }}}" >secrets-of-site.json
names() { seq -f '"s%g"' -s ', ' "$1" "$2"; }
recipes=tiny/recipes
edit "s/\"rootfs\": \"rootfs.sh\"/&, \"secrets\": [$(names 1 4)]/" $recipes/base/busybox/recipe.json
edit "s/\"script\": \"build.sh\"/&, \"secrets\": [$(names 5 9)]/" $recipes/framework/hello/recipe.json
edit "s/\"script\": \"distro.sh\",/& \"secrets\": [$(names 10 14)],/" $recipes/library/fast/recipe.json
edit "s/\"script\": \"distro.sh\",/& \"secrets\": [$(names 15 20)],/" $recipes/compiler/turbo/recipe.json
for script in base/busybox/rootfs framework/hello/build library/fast/distro compiler/turbo/distro; do
  cat >>"$recipes/$script.sh" <<'END'
set -x
for file in "$KILN_SECRETS"/*; do
  secret=$(cat "$file")
  echo "digest of ${file##*/}: $(sha256sum <"$file")"
  cat "$file" >&2
  echo "Authorization: Bearer $secret; $secret$secret"
  printf '%s' "$secret" | while IFS= read -r line; do printf '%s' "$line"; done
  [ -n "${KILN_OUTPUT:-}" ] || { mkdir -p /tmp/left && cp "$file" /tmp/left/; } # not on the build host
done
END
done
# A script that names none.
echo "[ ! -e /run/kiln/secrets ] && [ -z \"\${KILN_SECRETS:-}\" ]" >>$recipes/framework/hello/distro.sh

# 2. Without them: said before anything runs, and what needs none is built.
expect 3 "$KILN" build -f "$matrix" --state without version=2.10 method=distro library=none compiler=none
holds "$err" "the recipe needs the secret 's1', and the site file does not say where it is"
cp -r $recipes/base/busybox base-with-secrets
edit 's/, "secrets": \[[^]]*\]//' $recipes/base/busybox/recipe.json && cp "$tiny/recipes/base/busybox/rootfs.sh" $recipes/base/busybox/
expect 3 "$KILN" build -f "$matrix" --state without version=2.10 method=distro compiler=none --format json
equals "$(json 'sorted(image["verdict"] for image in it["images"])')" "['built', 'failed']"
cp base-with-secrets/* $recipes/base/busybox/

# 3. With them: each arrives.
expect 0 "$KILN" build -f "$matrix" --site secrets-of-site.json --format json
equals "$(json 'it["built"]')" 7
printf '%s' "$out$err" >build.out
expect 0 "$KILN" publish -f "$matrix"
logs=$(cat .kiln/logs/*.log)
for number in $(seq 20); do
  holds "$logs" "digest of s$number: $(sha256sum <"secrets/s$number")"
done
holds "$logs" 'Authorization: Bearer ***'

# 4. A step that fails with a secret as its last word.
# shellcheck disable=SC2016 # expanded in the step
echo 'cat "$KILN_SECRETS/s11"; exit 3' >>$recipes/library/fast/distro.sh
expect 1 "$KILN" build -f "$matrix" --site secrets-of-site.json library=fast
holds "$err" 'exit status 3: '
printf '%s' "$out$err" >>build.out
for question in 'index list --format json' 'select --dsl dsl.json --json' 'select --dsl dsl.json --explain'; do
  echo '{"optimisation": {"app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "hello"}}}}' >dsl.json
  # shellcheck disable=SC2086 # words
  expect 0 "$KILN" $question
  printf '%s' "$out$err" >>build.out
done
name=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print([i["name"] for i in json.load(sys.stdin) if "turbo" in i["name"]][0])')
expect 0 "$KILN" inspect "$name" --provenance
printf '%s' "$out$err" >>build.out

# 5. Nowhere: no log, record, document, label, plan, nor the engine's store; no layer, and no SIF.
expect 0 "$KILN" generate -f "$matrix" -o out
mkdir opened
for blob in .kiln/store/sha256/*/*; do
  if zstd -dcq "$blob" >"opened/${blob##*/}" 2>/dev/null; then continue; fi
  rm "opened/${blob##*/}"
done
[ "$(find opened -type f | wc -l)" -ge 5 ] || fail 'no layers were found'
for sif in .kiln/sif/*.sif; do
  offset=$("$KILN_PYTHON" -c 'import sys; print(open(sys.argv[1], "rb").read().index(b"hsqs"))' "$sif")
  unsquashfs -quiet -no-progress -offset "$offset" -dest "opened/${sif##*/}" "$sif" >/dev/null
done
[ -e "$(echo opened/hello_2.10-source-turbo*.sif/opt/kiln/hello/bin/hello)" ] || fail 'no SIF was opened'
for place in .kiln out opened build.out; do
  if grep -rlaF "$canary" "$place"; then fail "a secret in $place"; fi
done

# 6. The generated files say how to hand them in, and end without them.
image=$(echo "$work"/out/hello/2.10-source-turbo-*)
cd "$image"
for number in $(seq 5 9) $(seq 15 20); do
  holds "$(cat Dockerfile)" "#   --secret id=s$number,src=FILE      # for "
  holds "$(cat Singularity.def)" "#   FOLDER/s$number      # for "
done
lacks "$(cat Dockerfile)" id=s10,
expect 1 sh rootfs.sh
holds "$err" 'the secret s1 is missing'
expect 0 env KILN_SECRETS="$work/secrets" sh rootfs.sh
engine() {
  buildah --storage-driver vfs --root "$work/bud/store" --runroot "$work/bud/run" "$@"
}
if engine bud --isolation chroot -t hello . >"$work/bud.log" 2>&1; then fail 'built without secrets'; fi
set --
for number in $(seq 5 9) $(seq 15 20); do
  set -- "$@" --secret "id=s$number,src=$work/secrets/s$number"
done
engine bud --isolation chroot "$@" -t hello . >"$work/bud.log" 2>&1 || { cat "$work/bud.log" && fail 'buildah bud'; }
holds "$(cat "$work/bud.log")" "digest of s20: $(sha256sum <"$work/secrets/s20")"
mounted=$(engine mount "$(engine from hello)")
if grep -rlaF "$canary" "$mounted"/* --exclude-dir=tmp; then fail 'a secret in the image of buildah'; fi
if engine inspect --type image hello | grep -F "$canary"; then fail 'a secret in the configuration'; fi

"$KILN_SOURCE/ci/apptainer" install
chmod -R a+rwX "$image"
chmod 755 "$work/secrets" && chmod 644 "$work"/secrets/*
apptainer() { KILN_APPTAINER_BINDS=$work/secrets "$KILN_SOURCE/ci/apptainer" run "$@"; }
if apptainer build --fakeroot none.sif Singularity.def >"$work/none.log" 2>&1; then fail 'built without secrets'; fi
holds "$(cat "$work/none.log")" 'the secret s15 is missing'
KILN_SECRETS=$work/secrets apptainer build --fakeroot image.sif Singularity.def >"$work/apptainer.log" 2>&1 ||
  { cat "$work/apptainer.log" && fail 'apptainer build'; }
apptainer exec image.sif /bin/sh -c 'find / -xdev -type f ! -path "/tmp/*" ! -path "/proc/*" -exec cat {} +' >"$work/content" 2>/dev/null || true
[ "$(wc -c <"$work/content")" -gt 100000 ] || fail 'the image was not read'
if grep -qaF "$canary" "$work/content"; then fail 'a secret in the image of Apptainer'; fi
apptainer inspect --all image.sif >"$work/inspected" 2>/dev/null
if grep -qF "$canary" "$work/inspected"; then fail 'a secret in what the SIF says'; fi
echo 'twenty secrets, seen by those who named them and kept nowhere'
