#!/usr/bin/env bash
# `kiln gc` on what a real engine leaves: told first, then taken away; beside builds; killed; and the whole folder by its ordinary user.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/gate.sh
. "$KILN_SOURCE/tests/support/gate.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
script=tiny/recipes/framework/hello/distro.sh
build() { expect 0 "$KILN" build -f "$matrix" -j 2 --format json; }
change() { echo "echo $1 >/opt/kiln-day" >>"$script"; } # other bits of every image
age() { find .kiln -exec touch -h -d "$1 days ago" {} +; }
answers() { # every image of every snapshot is whole
  expect 0 "$KILN" index fsck --deep
  expect 0 "$KILN" index recover
  holds "$out" '0 adopted, 0 lost'
}
bytes() { du -s --block-size=1 .kiln | cut -f 1; }

# 1. Nothing is told of a fresh folder, and --delete changes nothing.
build
expect 0 "$KILN" publish -f "$matrix"
expect 0 "$KILN" gc --delete
holds "$out" 'nothing to collect'

# 2. A day later other images are published: of the first ones only what another needs, too, stays.
age 3
change one
build
expect 0 "$KILN" publish -f "$matrix"
few=(--keep-for 0s --keep-steps-for 1d --keep-snapshots 1)
before=$(bytes)
expect 0 "$KILN" gc "${few[@]}"
holds "$out" 'nothing is changed'
equals "$(bytes)" "$before"
expect 0 "$KILN" gc "${few[@]}" --format json
told=$(json 'it["bytes"]')
equals "$(json 'sum(one["kind"] == "snapshot" for one in it["garbage"])')" 1
equals "$(json 'sum(one["kind"] == "engine image" for one in it["garbage"]) > 0')" True
expect 0 "$KILN" gc "${few[@]}" --delete
freed=$((before - $(bytes)))
[ "$freed" -ge $((told - 65536)) ] || fail "told $told, freed $freed"
answers
expect 0 "$KILN" gc "${few[@]}"
holds "$out" 'nothing to collect'
build
equals "$(json 'it["steps_run"]')" 0
expect 0 "$KILN" index snapshots
equals "$(grep -c current <<<"$out")" 1
expect 0 "$KILN" sif check .kiln/sif/hello_2.10-distro-x86_64-busybox1.35.sif

# 3. What is wrong on the command line.
expect 2 "$KILN" gc --keep-for soon
holds "$err" 'expected an age'
expect 2 "$KILN" gc --delete --dry-run
expect 2 "$KILN" gc --all --keep 1
expect 4 "$KILN" gc --keep 77
expect 8 "$KILN" gc --state nowhere
mkdir mine
echo precious >mine/file
for option in --all --keep=1; do
  expect 3 "$KILN" gc "$option" --delete --state mine
  equals "$(ls -A mine)" file
done

# 4. A build that starts while it runs, and the other way round: each waits for the other, and both do their work.
for round in 1 2 3; do
  age 3
  change "round $round"
  "$KILN" build -f "$matrix" -j 2 --wait --progress none >build.out 2>&1 &
  job=$!
  sleep "0.$round"
  expect 0 "$KILN" gc "${few[@]}" --delete --wait
  wait "$job" || fail "the build: $(cat build.out)"
  build
  equals "$(json 'it["failed"] + it["steps_run"]')" 0
  answers
done

# 5. Killed at moments of its own.
expect 0 "$KILN" publish -f "$matrix"
for moment in 0.02 0.05 0.1 0.2 0.4; do
  age 3
  change "killed at $moment"
  build
  expect 0 "$KILN" publish -f "$matrix"
  timeout --signal=KILL "$moment" "$KILN" gc "${few[@]}" --delete >/dev/null 2>&1 || true
  answers
  expect 0 "$KILN" gc "${few[@]}" --delete
  answers
done
expect 0 "$KILN" gc "${few[@]}"
holds "$out" 'nothing to collect'

# 6. All of it, refused while a build runs.
gated "$script"
"$KILN" build -f "$matrix" -j 2 --progress none >build.out 2>&1 &
job=$!
until_true "$job" build.out [ -s gate/starts ]
expect 7 "$KILN" gc --all --delete
holds "$err" 'is in use: kiln build of tiny'
open_gate
wait "$job" || fail "the build: $(cat build.out)"
echo '{"places": []}' >.kiln/proposals.json
expect 0 "$KILN" gc --all
holds "$out" 'nothing is changed'
expect 0 "$KILN" gc --all --delete
equals "$(ls -A .kiln)" lock
build

# 7. The disk is full: that is when it is needed. And a build says before it begins that it has no room.
expect 0 "$KILN" publish -f "$matrix"
change full
build
expect 0 "$KILN" publish -f "$matrix"
age 3
mkdir full
mount -t tmpfs -o "size=$(($(bytes) / 1024 + 512))k" none full
cp -a .kiln full/.kiln
dd if=/dev/zero of=full/fill bs=1k count=100000 2>/dev/null || true
change more
expect 8 "$KILN" build -f "$matrix" --state full/.kiln
holds "$err" 'not even its smallest image fits'
expect 0 "$KILN" gc --state full/.kiln "${few[@]}" --delete
holds "$out" freed
expect 0 "$KILN" index fsck --state full/.kiln
expect 0 "$KILN" index recover --state full/.kiln
echo "gc: told, taken away, and built again"
