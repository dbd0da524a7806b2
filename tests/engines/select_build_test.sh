#!/usr/bin/env bash
# kiln select --build-if-missing with the real buildah: the cell that would be the answer is named, built once for all
# who ask, published alone, and is the answer.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/gate.sh
. "$KILN_SOURCE/tests/support/gate.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
question() { # question VERSION OPTIMISED [OPTION]
  printf '{"optimisation": {"enable_opt_build": %s, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "hello"},
  "ai_framework-hello": {"version": "%s"%s}}}}' "$2" "$1" "${3:-}"
}
question 2.1 true >fast.json
question 2.10 true ', "turbo": true' >turbo.json
question 2.10 false >stock.json
ask() { "$KILN" select --dsl "$@" -f "$matrix" --host x86_64; }
names() { json '[image["name"] for image in it]'; }
fast=hello:2.1-distro-fast-x86_64-busybox1.35
turbo=hello:2.10-distro-fast-turbo-x86_64-busybox1.35

# 1. Two askers at once: one build, and both have the answer. The first is held at work until the second waits.
script=tiny/recipes/framework/hello/distro.sh
cp "$script" plain.sh
gated "$script"
ask fast.json --build-if-missing >one.out 2>one.err &
one=$!
until_true "$one" one.err [ -s gate/starts ]
ask fast.json --build-if-missing --json >two.out 2>two.err &
two=$!
until_true "$two" two.err grep -q 'waiting for ' two.err
open_gate
wait "$one" || fail "the first asker: $(cat one.err)"
wait "$two" || fail "the second asker: $(cat two.err)"
equals "$(cat one.out)" "$fast"
out=$(cat two.out)
err=$(cat two.err)
equals "$(json 'it["answer"]')" "$fast"
holds "$err" 'waiting for '
holds "$err" 'a build for a question about hello by process'
lacks "$err" 'start '
holds "$(tail -n 1 one.err)" "published $fast as snapshot 1"
cp plain.sh "$script"

# 2. Killed in the middle, it leaves nothing that stops the next, who goes on with what was done.
close_gate
: >gate/starts
gated tiny/recipes/compiler/turbo/distro.sh
"$KILN" select --dsl turbo.json -f "$matrix" --host x86_64 --build-if-missing >killed.out 2>killed.err &
killed=$!
until_true "$killed" killed.err [ -s gate/starts ]
kill -KILL "$killed"
wait "$killed" 2>/dev/null || true
equals "$(cat killed.out)" ''
cp "$tiny/recipes/compiler/turbo/distro.sh" tiny/recipes/compiler/turbo/distro.sh
expect 0 "$KILN" index list --format json
equals "$(names)" "['$fast']"
expect 0 ask turbo.json --build-if-missing
equals "$out" "$turbo"
lacks "$err" 'start  busybox'
expect 0 ask turbo.json --build-if-missing
equals "$err" ''

# 3. It was published alone, and each miss was counted once.
expect 0 "$KILN" index list --format json
equals "$(names)" "['$fast', '$turbo']"
equals "$(json '[image["stale"] for image in it]')" '[False, False]'
expect 0 "$KILN" index demand --format json
equals "$(json 'sorted((row["question"], row["count"]) for row in it if row["outcome"] == "missed")')" \
  "[('hello 2.1, optimised', 2), ('hello 2.10, optimised, turbo', 2)]"

# 4. A build or a test that fails: its exit code, and nothing is published.
echo 'echo broken; exit 3' >>tiny/recipes/framework/hello/smoke.sh
expect 1 ask stock.json --build-if-missing
equals "$out" ''
holds "$err" 'error: hello:2.10-distro-x86_64-busybox1.35 is not built: test hello 2.10 (distro)'
holds "$err" 'nothing is published'
cp "$tiny/recipes/framework/hello/smoke.sh" tiny/recipes/framework/hello/smoke.sh
expect 0 "$KILN" index list --format json
equals "$(names)" "['$fast', '$turbo']"

# 5. What is named before is what answers after.
"$KILN" build -f "$matrix" -j 2 --progress none >/dev/null
for file in fast turbo stock; do
  expect 4 "$KILN" select --dsl $file.json -f "$matrix" --host x86_64 --state elsewhere --json
  named=$(json '(it["would_match"]["name"], it["would_match"]["reasons"])')
  cp -r .kiln all
  expect 0 "$KILN" publish -f "$matrix" --state all
  expect 0 "$KILN" select --dsl $file.json --host x86_64 --state all --json
  equals "$(json '(it["answer"], [reason for reason in it["reasons"] if not reason.startswith("tested on ")])')" "$named" # where it was tested nobody knew before
  rm -rf all
done

# 6. Bits that were withdrawn are not made again: another cell is the answer, until there is none.
for image in "$turbo" hello:2.10-source-turbo-x86_64-busybox1.35 hello:2.10-distro-turbo-x86_64-busybox1.35; do
  expect 0 ask turbo.json --build-if-missing
  equals "$out" "$image"
  expect 0 "$KILN" index retire "$image" --reason 'wrong results'
done
expect 4 ask turbo.json --build-if-missing
holds "$err" "no cell of $matrix would match; nearest "
holds "$err" ': retired: wrong results'
lacks "$err" 'start '
expect 0 "$KILN" index list --format json
before=$out

# 7. Evidence that makes an image unfit for who asks: it is built, not published, and the reason is said.
# shellcheck disable=SC2016
edit '/usr.bin.env"$/a install -m 755 "$(readlink -f /bin/true)" "$tree/bin/needs-a-library"' tiny/recipes/base/busybox/*.sh
expect 4 ask stock.json --build-if-missing
equals "$out" ''
holds "$err" 'error: hello:2.10-distro-x86_64-busybox1.35 is built, and does not match: '
holds "$err" 'libc.so.6'
holds "$err" 'it is not published'
expect 4 ask stock.json --build-if-missing
holds "$err" 'no cell of tiny/tiny.json would match; nearest '
lacks "$err" 'start '
expect 0 "$KILN" index list --format json
equals "$out" "$before"

# 8. A job whose image is missing: the cell is named, and built where that is asked for; its script runs it.
cp -r "$tiny" whole
"$KILN_PYTHON" - <<'P'
import json
asked = json.load(open("fast.json"))["optimisation"]
job = {"job_options": {"job_name": "j"}, "application": {"app_type": "python", "executable": "hello"}, "optimisation": asked}
json.dump({"job": job}, open("job.json", "w"))
P
ask_job() { "$KILN" job --state jobs --dsl job.json -f whole/tiny.json --host x86_64 "$@"; }
expect 4 ask_job
holds "$err" 'the cell hello-2.1-distro-fast-plain-busybox_1.35 of whole/tiny.json would match'
lacks "$err" 'start '
expect 2 "$KILN" job --state jobs --dsl job.json --build-if-missing
holds "$err" '--build-if-missing goes with -f'
expect 0 ask_job --build-if-missing -o job.sh --json
equals "$(json 'it["answer"]')" "$fast"
holds "$err" "published $fast as snapshot 1"
holds "$(cat job.sh)" "${fast/:/_}.sif"
expect 0 ask_job --build-if-missing -o again.sh
lacks "$err" 'start '
equals "$(cat again.sh)" "$(cat job.sh)"
echo 'select and job --build-if-missing: one build, one image, one answer'
