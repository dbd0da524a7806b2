#!/usr/bin/env bash
# Images for Arm and POWER on another machine: skipped without an emulator; with QEMU they are built and tested, the record says that it was
# emulated, and one name stands for the image of each platform.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/foreign.sh
. "$KILN_SOURCE/tests/support/foreign.sh"
case $(uname -m) in x86_64) ;; *) echo 'emulated: x86_64 only' && exit 77 ;; esac
in_own_mounts "$KILN_SOURCE/tests/engines/emulated_test.sh" "$@"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
cat >"$matrix" <<'J'
{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.1"], "method": ["distro"], "base": ["busybox@1.35"], "target": ["plain", "neoverse_n1", "power9le"]}}
J
base=tiny/recipes/base/busybox
foreign_busybox arm64 "$base/busybox-aarch64"
foreign_busybox ppc64el "$base/busybox-ppc64le"
cp "$(command -v busybox)" "$base/busybox-x86_64"
edit 's/"parameters": \["KILN_VERSION"\]/"files": ["busybox-aarch64", "busybox-ppc64le", "busybox-x86_64"], "parameters": ["KILN_VERSION", "KILN_CPU_FAMILY"]/' "$base/recipe.json"
# shellcheck disable=SC2016 # for that script
edit 's/"\$busybox" --list/busybox --list/' "$base/rootfs.sh"
edit "s/^busybox=.*/busybox=busybox-\$KILN_CPU_FAMILY/" "$base/rootfs.sh"
smoke=tiny/recipes/framework/hello/smoke.sh
cp "$smoke" smoke.good
# ends HOW: on other processors than this one the test ends so, else well.
ends() {
  # shellcheck disable=SC2016 # for the test
  { echo '#!/bin/sh -eu'; printf 'case $(uname -m) in x86_64) ;; *) %s ;; esac\n' "$1"; tail -n +2 smoke.good; } >"$smoke"
}
# shellcheck disable=SC2016 # for the test
ends 'echo "on $(uname -m)"'
results() { json 'sorted((row["image"].split("-")[2], row["result"]) for row in it)'; }
machines() { json 'sorted((row["image"].split("-")[2], row["machine"].split(" (")[1]) for row in it)'; }

# 1. Nobody stands in for their processors: they are left out, which is no failure.
if [ ! -e "$handlers/qemu-aarch64" ] && [ ! -e "$handlers/qemu-ppc64le" ]; then
  expect 0 "$KILN" build -f "$matrix"
  holds "$out" '1 built, 0 up to date, 0 failed, 0 not reached, 2 skipped'
  holds "$out" 'is for ppc64le, and this machine is amd64'
fi

# 2. With an emulator they are built, by each engine, and what ran their tests is kept; their machine code is what was asked for.
register aarch64 ppc64le
emulator=$(qemu-aarch64-static --version | sed -n '1s/.*version \([^ ]*\).*/\1/p')
[ -n "$emulator" ] || fail 'QEMU does not say its version'
KILN_ENGINE=podman expect 0 "$KILN" build -f "$matrix" target=neoverse_n1
expect 0 "$KILN" build -f "$matrix"
holds "$out" '0 failed, 0 not reached; '
expect 0 "$KILN" test -f "$matrix" --format json
equals "$(results)" "[('neoverse_n1', 'passed'), ('power9le', 'passed'), ('x86_64', 'passed')]"
own=$("$KILN" host | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["cpu"])')
equals "$(machines)" "[('neoverse_n1', 'emulated: qemu-aarch64 $emulator)'), ('power9le', 'emulated: qemu-ppc64le $emulator)'), ('x86_64', '$own)')]"
grep -qs '^on aarch64$' .kiln/logs/*.log || fail 'the test of the image for Arm was not run on Arm'
grep -qs '^on ppc64le$' .kiln/logs/*.log || fail 'the test of the image for POWER was not run on POWER'

# 3. The index says it, and selection: an emulated test was run on no host like the one asked for.
start_registry
place=$host/site/ai
echo "{\"publish\": {\"registry\": \"$place\", \"aliases\": [{\"name\": \"hello:2.1\", \"images\": [\"hello:2.1-*\"]}]}}" >site.json
expect 0 "$KILN" publish -f "$matrix"
holds "$out" '3 images pushed'
expect 0 "$KILN" index list --format json
ran='[run for run in row["tests"]["ran"].values()]'
equals "$(json "sorted((row['cpu'], row['evidence']['verdict'], *{(run.get('emulator', ''), 'cpu' in run) for run in $ran}) for row in it)")" \
  "[('neoverse_n1', 'conforms', ('qemu-aarch64 $emulator', False)), ('power9le', 'not judged', ('qemu-ppc64le $emulator', False)), ('x86_64', 'conforms', ('', True))]"
digest_of() { json "[row['manifest'] for row in it if row['cpu'] == '$1'][0]"; }
arm=$(digest_of neoverse_n1) power=$(digest_of power9le) here=$(digest_of x86_64)
echo '{"optimisation": {"enable_opt_build": false, "app_type": "ai_training", "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "2.1"}}}}' >job.json
expect 0 "$KILN" select --dsl job.json --host neoverse_n1 --explain
holds "$out$err" "tested on $(hostname) (emulated: qemu-aarch64 $emulator)"

# 4. One name, an image a platform: skopeo and podman pull the right one.
pulled() { # pulled ARCHITECTURE: the digest of the manifest that skopeo takes
  rm -rf pulled
  skopeo copy --quiet --override-arch "$1" "docker://$place/hello:2.1" oci:pulled:image || fail "skopeo pulls nothing for $1"
  skopeo inspect --override-arch "$1" --format '{{.Digest}}' oci:pulled:image
}
equals "$(pulled amd64) $(pulled arm64) $(pulled ppc64le)" "$here $arm $power"
run_root=$(mktemp -d /tmp/kiln-XXXXXX) # podman takes none of more than 50 characters
at_exit "rm -rf $run_root"
in_store() { podman --root "$work/store" --runroot "$run_root" "$@"; }
at_exit 'in_store system reset --force >/dev/null 2>&1'
for architecture in arm64 ppc64le; do
  in_store pull --quiet --cert-dir "$certificates" --arch "$architecture" "$place/hello:2.1" >/dev/null
  equals "$(in_store image inspect --format '{{.Architecture}}' "$place/hello:2.1")" "$architecture"
done
# So does kiln, of what it reads and of what it builds upon, without a lockfile; and what is for one processor alone is a base for no other.
expect 0 "$KILN" inspect "docker://$place/hello:2.1" --arch ppc64le --format json
holds "$out" power9le
mkdir tiny/recipes/base/joined
base_of() { # base_of REFERENCE: the matrix `joined` builds upon it
  echo "{\"description\": \"a base\", \"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": {\"hub\": {\"image\": \"$1\"}}}" >tiny/recipes/base/joined/recipe.json
}
sed 's/busybox@1.35/joined@1/; s/"tiny"/"joined"/' "$matrix" >tiny/joined.json
base_of "$place/hello:2.1"
expect 0 "$KILN" build -f tiny/joined.json --state joined
expect 0 "$KILN" test -f tiny/joined.json --state joined --format json
equals "$(json '{row["result"] for row in it}, len(it)')" "{'passed'} 3"
for machine in aarch64 ppc64le; do
  grep -qs "^on $machine$" joined/logs/*.log || fail "nothing was built upon the image for $machine"
done
base_of "$place/$(json '[row["image"] for row in it if "x86_64" in row["image"]][0]' | sed 's/-joined1/-busybox1.35/')"
expect 3 "$KILN" build -f tiny/joined.json --state single
holds "$out" ' is an image for amd64, and the target is for ppc64le'
holds "$out" '1 built'

# 5. SIFs are for the processor that was asked for.
expect 0 "$KILN" sif "docker://$place/hello:2.1" --arch ppc64le -o power.sif
expect 0 "$KILN" sif check power.sif
holds "$out" ppc64le
equals "$(find -L .kiln/sif -name "hello_2.1-*.sif" | wc -l)" 3

# 6. An emulator that lacks an instruction says nothing of the image; another death does.
# shellcheck disable=SC2016 # for the test
for way in 'kill -ILL $$' 'exit 132' 'echo "died with <Signals.SIGILL: 4>." && exit 1' 'sh -c "kill -ILL \$\$"'; do
  ends "$way"
  expect 0 "$KILN" build -f "$matrix" target=neoverse_n1
  expect 0 "$KILN" test -f "$matrix" --format json target=neoverse_n1
  equals "$(results)" "[('neoverse_n1', 'not run: qemu-aarch64 $emulator lacks an instruction that it uses')]"
done
# Where the engine gives a container processes of its own, the first of them would not die of its own signal, and QEMU would wait for that.
echo '{"limits": {"silence": "30s"}}' >podman.json
# shellcheck disable=SC2016 # for the test
ends 'kill -ILL $$ && : podman'
KILN_ENGINE=podman expect 0 "$KILN" build -f "$matrix" target=neoverse_n1 --site podman.json
expect 0 "$KILN" test -f "$matrix" --format json target=neoverse_n1
equals "$(results)" "[('neoverse_n1', 'not run: qemu-aarch64 $emulator lacks an instruction that it uses')]"
# shellcheck disable=SC2016 # for the test
ends 'kill -SEGV $$'
for engine in buildah podman; do
  KILN_ENGINE=$engine expect 1 "$KILN" build -f "$matrix" target=neoverse_n1 --site podman.json
  lacks "$out" silence
done

# 7. What an emulator measures is no speed.
expect 4 "$KILN" bench -f "$matrix" --workload count target=neoverse_n1
holds "$err" 'is for arm64, and this machine is amd64: passed over'
expect 0 "$KILN" doctor
holds "$out" "qemu-ppc64le $emulator"
echo 'emulated: built, tested, joined'
