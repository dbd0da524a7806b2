#!/usr/bin/env bash
# Images that a matrix lacks by now, an image that is withdrawn, and measurements of images of equal bits.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
write() { # write VERSIONS TARGETS: a matrix of these; what a target is changes no bits here
  echo "{\"name\": \"tiny\", \"axes\": {\"framework\": [\"hello\"], \"version\": [$1], \"method\": [\"distro\"], \"library\": [\"none\", \"fast\"],
    \"base\": [\"busybox@1.35\"], \"target\": [$2]}}" >"$matrix"
}
names() { json '[image["name"].split(":")[1].removesuffix("-busybox1.35") for image in it]'; }
query='{"optimisation": {"enable_opt_build": true, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "hello"},
  "ai_framework-hello": {"version": "2.10"}}}}'

write '"2.10"' '"x86_64", "x86_64_v2"'
expect 0 "$KILN" build -f "$matrix" -j 2 --progress none
expect 0 "$KILN" publish -f "$matrix"
equals "$out" 'snapshot 1: 4 published, 0 not built'

# 1. Both targets have the same bits: they are measured once, and each has the figure.
expect 0 "$KILN" bench -f "$matrix" library=fast --workload count --rounds 1 --repeat 0 --format json
equals "$(json 'len(it)')" 2
equals "$(json 'len({(row["median"], row["taken"]) for row in it})')" 1
equals "$(grep -c '^bench ' <<<"$err")" 1
expect 0 "$KILN" bench -f "$matrix" library=none target=x86_64 --workload count --rounds 1 --repeat 0 --format json
expect 0 "$KILN" index list --format json
equals "$(json '[len(image["measurements"]) for image in it]')" '[1, 1, 1, 1]'
equals "$(json '[measured["key"] == image["key"] for image in it for measured in image["measurements"]]')" '[True, True, True, True]'
ask() { echo "$query" | "$KILN" select --dsl - "$@"; }
expect 0 ask --explain
holds "$out" 'quartiles '

# 2. What the matrix lacks by now is said, and goes when asked for.
write '"2.10"' '"x86_64"'
expect 0 "$KILN" publish -f "$matrix"
holds "$out" 'snapshot 2: 2 published, 0 not built' # words on what the fast image gains: it was measured since
expect 0 "$KILN" publish -f "$matrix"
holds "$out" 'snapshot 2: nothing new'
equals "$(grep -c '^lacks hello:2.10-distro-.*x86_64_v2-busybox1.35' <<<"$out")" 2
holds "$err" 'tiny published 2 images that it lacks by now; --prune takes them out'
expect 2 "$KILN" publish -f "$matrix" --prune library=fast
holds "$err" '--prune goes with the whole matrix'
expect 2 "$KILN" publish -f "$matrix" --prune
holds "$err" '--prune would take out 2 of the 4 images that tiny has in the index'
mv tiny/recipes/library/fast/distro.sh away
expect 3 "$KILN" publish -f "$matrix" --prune --yes
holds "$err" "there is no file 'tiny/recipes/library/fast/distro.sh'"
expect 0 "$KILN" publish -f "$matrix"
holds "$out" '1 published, 1 not built'
lacks "$out" 'lacks'
expect 0 "$KILN" index list --format json
equals "$(json '[image["stale"] for image in it]')" '[True, False, False, False]'
mv away tiny/recipes/library/fast/distro.sh
expect 0 "$KILN" publish -f "$matrix" --prune -n
equals "$(grep -c '^would prune hello:2.10-distro-.*x86_64_v2-busybox1.35' <<<"$out")" 2
holds "$out" '2 images to publish, 0 not built'
expect 0 "$KILN" index list --format json
equals "$(json 'len(it)')" 4
expect 0 "$KILN" publish -f "$matrix" --prune --yes
equals "$(grep -c '^pruned ' <<<"$out")" 2
expect 0 "$KILN" index list --format json
equals "$(names)" "['2.10-distro-fast-x86_64', '2.10-distro-x86_64']"
expect 0 "$KILN" index rollback 1
expect 0 "$KILN" index list --format json
equals "$(json 'len(it)')" 4

# 3. One that is wrong: nobody gets these bits any more, under any name.
expect 0 ask
fastest=$out
expect 2 "$KILN" index retire "$fastest"
holds "$err" 'say why with --reason'
expect 4 "$KILN" index retire "${fastest/hello/helo}" --reason x
holds "$err" "did you mean"
expect 0 "$KILN" index retire "$fastest" --reason 'wrong results on zen4'
holds "$out" 'hello:2.10-distro-fast-x86_64-busybox1.35, hello:2.10-distro-fast-x86_64_v2-busybox1.35'
expect 0 ask
lacks "$out" fast
expect 0 ask --explain
equals "$(grep -c ': retired: wrong results on zen4$' <<<"$out")" 2
expect 0 "$KILN" index list
equals "$(grep -c 'fast.*(retired: wrong results on zen4)' <<<"$out")" 2
if [ -e .kiln/sif ]; then
  [ "$(find -L .kiln/sif -name '*fast*' | wc -l)" = 0 ] || fail 'a retired SIF is shown'
fi
expect 0 "$KILN" publish -f "$matrix"
expect 0 ask
lacks "$out" fast
expect 0 "$KILN" index retire "$fastest" --undo
expect 0 ask
equals "$out" "$fastest"
