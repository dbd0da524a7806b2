#!/usr/bin/env bash
# The whole job on the tiny catalogue with the real buildah: build, test, package, publish, bench, select; then what
# must happen on the second run, after a change, after a failure and after a kill.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json

# 1. Everything is built, and each image is a whole OCI layout.
expect 0 "$KILN" build -f "$matrix" --format json -j 2
equals "$(json 'it["built"]')" 7
holds "$err" 'done'
for layout in .kiln/images/hello/*; do
  tag=$("$KILN_PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1] + "/index.json"))["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"])' "$layout")
  skopeo inspect --config "oci:$layout:$tag" >config.json || fail "skopeo does not read $layout"
done
[ ! -e .kiln/failed ] || [ -z "$(ls .kiln/failed)" ] || fail 'failure records are left'

# 2. A second run does nothing and says so.
expect 0 "$KILN" build -f "$matrix"
holds "$out" 'nothing to do'
rm .kiln/plans/tiny.json # gc and log read it
expect 0 "$KILN" build -f "$matrix"
holds "$out" 'nothing to do'
[ -s .kiln/plans/tiny.json ] || fail 'a missing plan is not written again'
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'built'}"

# 3. Publish, bench, select.
expect 0 "$KILN" publish -f "$matrix"
equals "$out" 'snapshot 1: 7 published, 0 not built'
expect 0 "$KILN" publish -f "$matrix"
equals "$out" 'snapshot 1: nothing new'
expect 0 "$KILN" bench -f "$matrix" version=2.10 compiler=none method=distro --workload count --rounds 1 --repeat 0 --format json
equals "$(json 'all(row["measured_now"] and row["median"] > 0 for row in it)')" True
expect 0 "$KILN" bench -f "$matrix" version=2.10 compiler=none method=distro --workload count --rounds 1 --repeat 0 --format json
equals "$(json 'any(row["measured_now"] for row in it)')" False
ask() { # ask VERSION OPT [OPTION]: the tag for a version of hello
  printf '{"optimisation": {"enable_opt_build": %s, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"}, "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "%s"%s}}}}' "$2" "$1" "${3:-}" |
    "$KILN" select --dsl -
}
case $(ask 2.1 false) in hello:2.1-*) ;; *) fail "asked for 2.1, got $(ask 2.1 false)" ;; esac
case $(ask 2.10 false) in hello:2.10-*) ;; *) fail "asked for 2.10, got $(ask 2.10 false)" ;; esac
lacks "$(ask 2.1 false)" fast
holds "$(ask 2.10 true ', "turbo": true')" turbo
expect 4 ask 2.3 false
holds "$err" '2.3'

# 4. A change of one library's script rebuilds what hangs on it, and says why; a description changes nothing.
echo 'echo more >>/opt/kiln/fast.more' >>tiny/recipes/library/fast/distro.sh
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json '{cell["axes"]["library"] for cell in it["cells"] if cell["state"] == "to build"}')" "{'fast'}"
expect 0 "$KILN" plan -f "$matrix" --explain library=fast
holds "$out" 'distro.sh changed'
edit 's/"description": "/"description": "Now: /' tiny/recipes/framework/hello/recipe.json
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json '{cell["axes"]["library"] for cell in it["cells"] if cell["state"] == "to build"}')" "{'fast'}"
equals "$(json '{cell["axes"]["library"] for cell in it["cells"] if cell["state"] == "to re-tag"}')" "{'none'}"
expect 0 "$KILN" build -f "$matrix" library=none --format json
equals "$(json '(it["built"], it["up_to_date"])')" '(4, 0)'
holds "$err" 'image hello:2.1'
lacks "$err" 'test '

# 5. A broken script fails its images, the others go on, and the index keeps what it had, marked stale.
echo 'echo about to break; exit 3' >>tiny/recipes/library/fast/distro.sh
expect 1 "$KILN" build -f "$matrix" --format json
equals "$(json 'sorted({(image["verdict"], "fast" in image["name"]) for image in it["images"]})')" "[('failed', True), ('up to date', False)]"
holds "$(json 'it["images"]')" 'exit status 3'
holds "$err" 'about to break'
expect 0 "$KILN" log -f "$matrix" version=2.1 library=fast
holds "$out" 'about to break'
expect 0 "$KILN" log -f "$matrix" version=2.1 library=none
[ -n "$out" ] || fail 'a cell that is built has no log'
expect 0 "$KILN" log -f "$matrix" version=2.1 library=none --step 'test *'
holds "$out" 'hello 2.1'
expect 0 "$KILN" log -f "$matrix" version=2.1 --list
holds "$(grep fast <<<"$out")" ' failed '
grep 'about to break' .kiln/logs/hello-2.1-distro-fast-*/[0-9][0-9]-library-fast.log || fail 'the log has no name that a person finds'
expect 4 "$KILN" log -f "$matrix" version=2.1 library=none --step 'hullo*'
expect 4 "$KILN" log -f "$matrix" version=2.1 library=none --state nothing
holds "$err" 'kiln build'
expect 0 "$KILN" publish -f "$matrix"
holds "$out" 'snapshot 2'
expect 0 "$KILN" index list --format json
equals "$(json 'sorted({image["stale"] for image in it if "fast" in image["name"]})')" '[True]'
expect 0 "$KILN" index rollback 1
expect 0 "$KILN" index list --format json
equals "$(json '{image["stale"] for image in it}')" '{False}'
expect 4 "$KILN" index rollback 99

# 5a. A stricter test runs on what is built, and runs nothing else; bits that fail it are failing, and nobody gets them.
rm -rf tiny && cp -r "$tiny" tiny
expect 0 "$KILN" build -f "$matrix"
expect 0 "$KILN" publish -f "$matrix"
# shellcheck disable=SC2016
echo 'case $said in "hello 2.1:"* | "hello 2.1 "*) echo "too old: $said" && exit 7 ;; esac' >>tiny/recipes/framework/hello/smoke.sh
expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'to test'}"
expect 1 "$KILN" build -f "$matrix" --format json
equals "$(json 'sorted({(image["verdict"], "2.10" in image["name"]) for image in it["images"]})')" "[('built', True), ('failed', False)]"
holds "$err" 'too old: hello 2.1'
equals "$(grep '^start' <<<"$err" | grep -vc '^start  test ' || true)" 0
expect 0 "$KILN" publish -f "$matrix"
holds "$out" ' failing a test'
expect 0 "$KILN" index list
holds "$(grep 'hello:2.1-' <<<"$out")" '(failing)'
lacks "$(grep 'hello:2.10-' <<<"$out")" '(failing)'
expect 4 ask 2.1 false
holds "$err" '--allow-failing'
ask_file() { printf '{"optimisation": {"enable_opt_build": false, "app_type": "ai_training", "opt_build": {"cpu_type": "x86"}, "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "2.1"}}}}' >ask.json; }
ask_file
expect 0 "$KILN" select --dsl ask.json --allow-failing
holds "$out" 'hello:2.1-'
expect 0 "$KILN" select --dsl ask.json --allow-failing --explain
holds "$out" 'failing: it fails a test'
rm -rf tiny && cp -r "$tiny" tiny
expect 0 "$KILN" build -f "$matrix"
holds "$out" 'nothing to do'
expect 0 "$KILN" publish -f "$matrix"
expect 0 "$KILN" select --dsl ask.json

# 5b. What a test could not try here is known of the image, and asks nobody to build it again.
expect 0 "$KILN" index list --format json
equals "$(json '{bool(image["tests"]["passed"]) and "not_run" not in image["tests"] and "untested" not in image for image in it}')" '{True}'
# shellcheck disable=SC2016
echo 'echo "$said, not run: there is no GPU here; one shell"' >>tiny/recipes/framework/hello/smoke.sh
expect 0 "$KILN" build -f "$matrix" version=2.1
expect 0 "$KILN" publish -f "$matrix" version=2.1
expect 0 "$KILN" select --dsl ask.json --explain
holds "$out" 'untested here: the test of hello 2.1 (distro) was not run in full: there is no GPU here'
expect 0 "$KILN" index list state=untested --format json
equals "$(json '{image["version"] for image in it}')" "{'2.1'}"
expect 0 "$KILN" index list state=untested
holds "$out" ' (untested) '
rm -rf tiny && cp -r "$tiny" tiny
expect 0 "$KILN" publish -f "$matrix"

# 6. Killed at a random moment, again and again: the next run goes on, and what was there stays whole.
rm -rf tiny && cp -r "$tiny" tiny
for moment in 0.2 0.5 0.9 1.4 2.0; do
  rm -rf .kiln/built .kiln/steps .kiln/tests
  setsid "$KILN" build -f "$matrix" -j 2 >/dev/null 2>&1 &
  sleep "$moment"
  kill -KILL -- -$! 2>/dev/null || true
  wait $! 2>/dev/null || true
done
expect 0 "$KILN" build -f "$matrix" --format json
equals "$(json 'it["failed"]')" 0
expect 0 "$KILN" index recover
expect 0 "$KILN" index list --format json
equals "$(json 'len(it)')" 7

# 7. Interrupted: 130, and ninja's children are gone.
rm -rf .kiln/built .kiln/steps .kiln/tests
"$KILN" build -f "$matrix" >/dev/null 2>interrupt.err &
build=$!
until grep -q '^start' interrupt.err; do sleep 0.05; done
kill -INT $build
status=0
wait $build || status=$?
equals "$status" 130
expect 0 "$KILN" build -f "$matrix" --format json

# 8. The engine's store is a cache: without it, children build from kiln's own layers.
rm -rf .kiln/engine
echo '# changed' >>tiny/recipes/compiler/turbo/distro.sh
expect 0 "$KILN" build -f "$matrix" --format json
equals "$(json 'it["failed"]')" 0

# 9. The index can be rebuilt from the sidecars.
expect 0 "$KILN" publish -f "$matrix"
expect 0 "$KILN" index list
before=$out
rm .kiln/index.db
expect 0 "$KILN" index recover
expect 0 "$KILN" index list
equals "$out" "$before"

# 9b. An image layout that is gone is made again from the store, without a build.
rm -rf .kiln/images/hello
expect 0 "$KILN" build -f "$matrix" --format json
equals "$(json '(it["built"], it["failed"])')" '(7, 0)'
if grep '^start' <<<"$err" | grep -v '^start  image '; then fail 'something else than the packaging ran'; fi
[ "$(find .kiln/images/hello -mindepth 1 -maxdepth 1 | wc -l)" -ge 7 ] || fail 'layouts are missing'

# 10. The same bits again: another state folder, time zone, locale and umask. What is made for oneself is for nobody else,
# and what was made for all stays so.
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$KILN" build -f "$matrix" --state other -j 1 >/dev/null 2>&1) || fail 'the second state folder'
(umask 077 && "$KILN" publish -f "$matrix" --state other >/dev/null) || fail 'the second index'
open=$(find other -path other/engine -prune -o ! -type l -perm /077 -print | head -n 5)
[ -z "$open" ] || fail "a private state folder is open to others: $open"
touch -d '1 hour ago' begun
edit 's/"description": "/"description": "Private: /' tiny/recipes/framework/hello/recipe.json
(umask 077 && "$KILN" build -f "$matrix" >/dev/null 2>&1 && "$KILN" publish -f "$matrix" >/dev/null) || fail 'a public state folder'
shut=$(find .kiln -path .kiln/engine -prune -o ! -type l -newer begun ! -perm -044 ! -name events.fifo -print | head -n 5)
[ -z "$shut" ] || fail "a public state folder has files that only their owner reads: $shut"
digests() { # of the manifests
  "$KILN_PYTHON" -c 'import glob, json, sys; print("\n".join(sorted(json.load(open(file))["manifest"] for file in glob.glob(sys.argv[1] + "/built/*.json"))))' "$1"
}
for digest in $(digests other); do
  case $(digests .kiln) in *"$digest"*) ;; *) fail "the image $digest has other bits in another state folder" ;; esac
done

# 11. A full disk: exit 8, the reason in the verdict, nothing half-written.
mkdir small
mount -t tmpfs -o size=3m tmpfs small
expect 8 "$KILN" build -f "$matrix" --state small/state --format json
holds "$out" 'the disk is full'
find small -name '*.part' | grep . >/dev/null && fail 'temporaries are left'
umount small

# 12. No package source: exit 6, the reason in the verdict. No engine: exit 5.
echo '{"limits": {"retries": 0}}' >once.json
expect 6 unshare --net "$KILN" build --site once.json -f "$KILN_SOURCE/matrix/demo.json" --state nonet framework=jax --format json
holds "$out" 'a package source could not be reached'
mkdir tools
for tool in ninja sh env tar sort mktemp busybox chmod mkdir install ln rm cat; do
  ln -s "$(command -v "$tool")" tools/
done
expect 5 env PATH="$work/tools" "$KILN" build -f "$matrix" --state noengine --format json
holds "$err" "the engine 'buildah' is not installed"

# 13. A launcher that is not there is named: 5. A step that takes too long: 124.
echo '{"launcher": ["kiln-no-such-launcher"]}' >launcher.json
expect 5 "$KILN" build -f "$matrix" --site launcher.json --state launched
holds "$err" "'kiln-no-such-launcher' is not installed"
echo '{"limits": {"wall": "1s"}}' >short.json
cp -r "$tiny" slow
echo 'sleep 60' >>slow/recipes/framework/hello/distro.sh
expect 124 "$KILN" build -f slow/tiny.json --site short.json --state slowly version=2.1 library=none --format json
holds "$out" 'killed after 1 s'

# 14. Layers as gzip, where the site says so: the same files, for tools that know no zstd.
echo '{"layer_compression": "gzip", "formats": ["oci"]}' >gzip.json
expect 0 "$KILN" build -f "$matrix" --site gzip.json --state gzipped version=2.1 library=none
layout=$(echo gzipped/images/hello/2.1-*)
tag=$(basename "${layout%-*}")
expect 0 skopeo inspect --raw "oci:$layout:$tag"
equals "$(json '{layer["mediaType"].rpartition("+")[2] for layer in it["layers"]}')" "{'gzip'}"
for layer in $(json '" ".join(layer["digest"].split(":")[1] for layer in it["layers"])'); do
  gzip -t <"$layout/blobs/sha256/$layer" || fail "layer $layer is no gzip file"
done

# 15. The build system's target `catalogue` runs the same program; here on the tiny catalogue.
line=$(ninja -C "$(dirname "$KILN")" -t commands catalogue | tail -n 1)
line=${line//"$KILN_SOURCE/matrix/demo.json"/"$work/$matrix"}
line=${line//"$KILN_SOURCE/.kiln"/"$work/.kiln"}
expect 0 sh -c "$line"
holds "$out" 'nothing to do'
echo "build: all as promised"
