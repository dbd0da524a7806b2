#!/usr/bin/env bash
# The words of an image's gain over stock, from seven rounds of a bench to the referrer in Debian's registry: attached by
# kiln publish, replaced after another measurement, read by kiln inspect on both sides.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
command -v skopeo >/dev/null || { echo 'SKIPPED: no skopeo here'; exit 77; }
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
# shellcheck source=tests/support/loaded.sh
. "$KILN_SOURCE/tests/support/loaded.sh"
edit "s|^storage:.*|storage: {delete: {enabled: true}, filesystem: {rootdirectory: $work/registry}}|" registry.yml
start_registry
place=http://$host/ai

# shellcheck source=tests/support/stock_and_fast.sh
. "$KILN_SOURCE/tests/support/stock_and_fast.sh"
load_machine
bench() { expect 0 "$KILN" bench -f tiny/tiny.json --workload say --repeat 0 --again "$@"; }
publish() { expect 0 "$KILN" publish -f tiny/tiny.json --to "$place"; }
tell 40 20
expect 0 "$KILN" build -f tiny/tiny.json -j 2 --progress none
publish
fast=$("$KILN" index list '*-fast-*' --format json | "$KILN_PYTHON" -c 'import json, sys; one = json.load(sys.stdin)[0]; print(one["repository"] + ":" + one["tag"], one["manifest"])')
read -r fast digest <<<"$fast"
words() { # words NAME EXPECTED: of all, and of each workload
  expect 0 "$KILN" inspect "$1" --gain
  equals "$(json '(it["word"], [(word["workload"], word["word"]) for word in it["words"]])')" "$2"
}
referrers() { # digests of those of the kind
  skopeo inspect --tls-verify=false --raw "docker://$host/ai/hello:${digest/:/-}" |
    "$KILN_PYTHON" -c 'import json, sys; print(*(one["digest"] for one in json.load(sys.stdin)["manifests"] if one["artifactType"] == "application/vnd.kiln.gain.v1+json"))'
}

# 1. Without a measurement there are no words.
expect 4 "$KILN" inspect "$fast" --gain
holds "$err" "there are no words on the gain of '$fast'"
equals "$(referrers)" ''

# 2. Proven, after seven rounds; three are too few.
bench --rounds 3
publish
words "$fast" "('not measured', [('say', 'not measured')])"
bench --rounds 7
publish
holds "$out" '1 image pushed'
words "$fast" "('proven', [('say', 'proven')])"
equals "$(json '(it["image"], it["words"][0]["ratio"], it["words"][0]["rounds"])')" "('$digest', 2.0, 7)"
of_index=$out
expect 0 "$KILN" inspect "docker://$host/ai/hello@$digest" --gain
equals "$out" "$of_index"
equals "$(referrers | wc -w)" 1
expect 0 "$KILN" select hello --explain
holds "$out" 'gain over stock: proven'
publish
holds "$out" 'nothing new'
holds "$out" '0 images pushed'

# 3. Slower by now: the words in the registry are replaced, and nothing calls the image optimised.
tell 20 40
bench --rounds 7
publish
words "docker://$host/ai/hello@$digest" "('slower', [('say', 'slower')])"
equals "$(referrers | wc -w)" 1
expect 0 "$KILN" index export --html pages
holds "$(cat "pages/images/${fast/:/\/}.html")" 'slower than stock'
lacks "$(cat "pages/images/${fast/:/\/}.html")" 'optimised build'
expect 0 "$KILN" select hello --explain
lacks "$(head -1 <<<"$out")" "$fast"
expect 0 "$KILN" index fsck --deep
expect 0 "$KILN" index fsck --registry "$place" --deep
expect 0 "$KILN" gc --delete
words "$fast" "('slower', [('say', 'slower')])"

# 4. A lost document: fsck says so, and the next publication makes it again.
blob=$("$KILN_PYTHON" -c 'import json, glob
for name in glob.glob(".kiln/store/records/*.json"):
    for one in json.load(open(name))["content"].get("attachments", []):
        if one["kind"] == "gain": print(one["blob"]["digest"].split(":")[1])')
rm -f ".kiln/store/sha256/${blob:0:2}/$blob"
expect 8 "$KILN" index fsck
publish
expect 0 "$KILN" index fsck
words "$fast" "('slower', [('say', 'slower')])"
echo 'gain words: attached, pushed, replaced, made again'
