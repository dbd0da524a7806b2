#!/usr/bin/env bash
# The engine apptainer: the tiny catalogue has the files that buildah gives it, but for what apptainer_differences.txt allows; no step of the
# one is the other's; what a user gets of an Apptainer that is not there, refuses, or is killed; and a user without rights. Its other faults are
# in engines_test.sh.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/apptainer.sh
. "$KILN_SOURCE/tests/support/apptainer.sh"
apptainer_here "$work/bin" || { echo 'SKIPPED: no Apptainer here; ci/apptainer install'; exit 77; }
PATH=$work/bin:$PATH
cp -r "$tiny" tiny
# A step that looks closely at where it runs: none of it may get into the layer.
cat >>tiny/recipes/framework/hello/distro.sh <<'SH'
env | grep -E 'APPTAINER|SINGULARITY|PROMPT' && { echo "Apptainer's variables are there"; exit 1; }
if touch /sys/x 2>/dev/null || touch /proc/sys/x 2>/dev/null; then echo 'can reach the machine'; exit 1; fi
chown 33:33 /opt/kiln/hello/version && touch /tmp/dropping /etc/new && rm /etc/os-release && chmod 1777 /opt
rm -r /var/tmp && mkdir /var/tmp
SH
matrix=tiny/tiny.json

# 1. Each image of the one beside that of the other.
allowed=$KILN_SOURCE/tests/engines/apptainer_differences.txt
newest() { find "$1/images/hello" -maxdepth 1 -name "$2-????????????" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2; }
same_trees() { # same_trees STATE STATE: the newest image of each tag
  local tag other tags=0
  for tag in $(find "$1/images/hello" -mindepth 1 -maxdepth 1 -printf '%f\n' | sed 's/-[0-9a-f]*$//' | sort -u); do
    other=$(newest "$2" "$tag")
    [ -d "$other" ] || fail "$tag is not in $2"
    expect 0 "$KILN" diff "oci:$(newest "$1" "$tag")" "oci:$other"
    if printf '%s\n' "$out" | grep -vxE -f <(grep -v '^#' "$allowed"); then fail "$tag of $2 is another"; fi
    tags=$((tags + 1))
  done
  equals "$tags" 7
}
expect 0 "$KILN" build -f "$matrix" --state buildah
expect 0 "$KILN" build -f "$matrix" --state apptainer --engine apptainer
same_trees buildah apptainer
ls apptainer/engine/layers/*-0 >/dev/null || fail 'it was not apptainer'
[ ! -e apptainer/engine/root ] || fail 'it was not apptainer alone'
equals "$(ls apptainer/engine/containers)" ''

# 2. Steps are kept apart, and the plan says why.
expect 0 "$KILN" plan -f "$matrix" --state apptainer --format json
equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'to build'}"
expect 0 "$KILN" plan -f "$matrix" --state apptainer --explain
holds "$out" 'base/busybox: run by another engine, whose steps are not those of apptainer'
echo '{"engine": "apptainer"}' >apptainer.json
expect 0 "$KILN" plan -f "$matrix" --state apptainer --site apptainer.json --format json
equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'built'}"
[ -z "$(comm -12 <(ls apptainer/steps) <(ls buildah/steps))" ] || fail 'they share a step'
# A catalogue goes over from one to the other, and back: what is there is not made again.
expect 0 "$KILN" build -f "$matrix" --state apptainer version=2.1 --format json
equals "$(json 'it["built"]')" 2
expect 0 "$KILN" build -f "$matrix" --state apptainer version=2.1 --site apptainer.json --format json
equals "$(json 'it["built"]')" 0
# The site file is changed under a plan: a step is of the engine that it was planned for.
expect 0 "$KILN" build -f "$matrix" --state planned --engine apptainer version=2.1 library=none
step=$(find planned/steps -name '*.json' | head -n 1)
step=$(basename "$step" .json)
rm "planned/steps/$step.json"
expect 1 "$KILN" step --state planned --plan tiny "$step"
holds "$out$err" 'the engine is buildah now, and this step is of apptainer'
expect 0 "$KILN" step --state planned --plan tiny "$step" --site apptainer.json

# 3. The layers as folders are a cache; tests have no network; a test that fails does so; garbage goes.
rm -r apptainer/engine
echo 'echo more >>/opt/more' >>tiny/recipes/library/fast/distro.sh
expect 0 "$KILN" build -f "$matrix" --state buildah
cat >tiny/recipes/framework/hello/smoke.sh <<'SH'
#!/bin/sh -eu
[ "$(grep -c ':' /proc/net/dev)" = 1 ] || { echo "has a network"; exit 1; }
if grep -l '314159[2]' /proc/[0-9]*/cmdline 2>/dev/null; then echo "sees processes of the machine"; exit 1; fi
if touch here 2>/dev/null; then echo "can write into the recipe's files"; exit 1; fi
[ "$(id -u)" = 0 ] || exit 1
[ "$KILN_METHOD" != distro ] || [ "$(stat -c %u /opt/kiln/hello/version)" = 33 ] || exit 1
[ -z "$(find /dev -type b)" ] || { echo "has the machine's disks"; exit 1; }
SH
sleep 3141592 &
at_exit "kill $! 2>/dev/null"
expect 0 "$KILN" build -f "$matrix" --state apptainer --site apptainer.json
same_trees buildah apptainer
expect 0 "$KILN" gc --state apptainer --site apptainer.json --delete --keep-for 0s --keep-steps-for 0s
[ "$(find apptainer/engine/layers -mindepth 1 -maxdepth 1 | wc -l)" -le 11 ] || fail 'layers of nobody stayed'
echo 'echo this test fails; exit 3' >tiny/recipes/framework/hello/smoke.sh
expect 1 "$KILN" build -f "$matrix" --state apptainer --site apptainer.json version=2.1 library=none
holds "$out$err" 'exit status 3'
grep -qs 'this test fails' apptainer/logs/*.log || fail 'the log has not what the test printed'
cp "$tiny/recipes/framework/hello/smoke.sh" tiny/recipes/framework/hello/
echo 'cat /opt/kiln/hello/version; exit 4' >say
expect 4 "$KILN" shell -f "$matrix" --state apptainer --site apptainer.json version=2.1 library=none <say
equals "$out" 2.1

# 4. Told to stop or killed in the middle, it leaves nothing at work, nothing mounted once somebody comes again, and a state that goes on.
long=$((400000 + $$))
no_sleepers() { ! pgrep -f "sleep $long" >/dev/null; }
cp -r tiny slow
echo "sleep $long" >>slow/recipes/framework/hello/distro.sh
for signal in TERM KILL; do
  "$KILN" build -f slow/tiny.json --state stopped --site apptainer.json version=2.1 library=none >/dev/null 2>stopped.err &
  job=$!
  until pgrep -f "sleep $long" >/dev/null; do
    kill -0 "$job" 2>/dev/null || fail "the build ended: $(cat stopped.err)"
    sleep 0.1
  done
  kill "-$signal" "$job"
  status=0
  wait "$job" || status=$?
  [ "$signal" = KILL ] || equals "$status" 130
  soon no_sleepers
done
expect 0 "$KILN" build -f "$matrix" --state stopped --site apptainer.json version=2.1 library=none
if grep "$work/stopped" /proc/mounts; then fail 'something is still mounted'; fi
equals "$(ls stopped/engine/containers)" ''
# A damaged layer is seen when it is unpacked, and made again.
rm -r stopped/engine
blob=$("$KILN_PYTHON" -c 'import glob, json
for path in glob.glob("stopped/steps/*.json"):
    layers = json.load(open(path))["layers"]
    if len(layers) == 1: print(layers[0]["blob"]["digest"][7:])')
printf x | dd of="stopped/store/sha256/${blob:0:2}/$blob" bs=1 seek=5000 conv=notrunc status=none
cp -r tiny again
echo 'echo again' >>again/recipes/framework/hello/distro.sh
expect 0 "$KILN" build -f again/tiny.json --state stopped --site apptainer.json version=2.1 library=none
holds "$err" 'a layer below this step is damaged: layer 1'
holds "$err" '1 step of damaged layers run again'
# More memory than it may have.
cp -r tiny greedy
echo 'dd if=/dev/zero of=/dev/null bs=300M count=1' >>greedy/recipes/framework/hello/distro.sh
echo '{"engine": "apptainer", "limits": {"memory": "100MiB", "retries": 0}}' >small.json
status=0
"$KILN" build -f greedy/tiny.json --state greedy-state --site small.json version=2.1 library=none >greedy.out 2>&1 || status=$?
equals "$status" 1
grep -q "out of memory: it needs more than its limit of 100 MiB" greedy.out || { cat greedy.out; fail 'nothing is said of memory'; }

# 5. Not installed; and with faults in front of the real one.
mkdir none
for program in $(compgen -c | grep -vxE 'apptainer|singularity' | grep -v '[][/]' | sort -u); do
  path=$(type -P "$program") || continue
  ln -sf "$path" "none/$program"
done 2>/dev/null
expect 5 env PATH="$work/none" "$KILN" build -f "$matrix" --state absent --engine apptainer
holds "$err" "the engine 'apptainer' is not installed or not in PATH"
[ ! -e absent/steps ] || [ -z "$(ls absent/steps)" ] || fail 'steps were run without an engine'
# Where only Singularity is, it is that.
mkdir older
cp bin/apptainer older/singularity
expect 0 env PATH="$work/older:$work/none" "$KILN" build -f "$matrix" --state older-state --engine apptainer version=2.1 library=none
expect 0 "$KILN" doctor --engine apptainer
holds "$out" 'runs the steps: separate devices and IPC'

# One that refuses is no script that failed.
mkdir fault
cat >fault/apptainer <<SH
#!/bin/sh
case " \$* " in *' exec '*) echo 'FATAL:   container creation failed: no' >&2; exit 255 ;; esac
exec "$work/bin/apptainer" "\$@"
SH
chmod +x fault/apptainer
echo '{"engine": "apptainer", "limits": {"retries": 0}}' >once.json
expect 8 env PATH="$work/fault:$PATH" "$KILN" build -f "$matrix" --state refused --site once.json version=2.1 library=none
holds "$out" 'apptainer could not start the script (exit status 255): FATAL:   container creation failed: no (infrastructure)'
equals "$(ls refused/engine/containers)" ''

# 6. A user without rights, in a namespace that kiln makes: the bits that root gets, with subordinate ids and without; and nothing is left.
user=kiln-apptainer
id "$user" >/dev/null 2>&1 || useradd --create-home "$user" # with subordinate ids, as Debian's login.defs gives them
home=$(getent passwd "$user" | cut -d: -f 6)
at_exit "unmount_all; userdel --remove $user >/dev/null 2>&1 || true"
archspec=$("$KILN_PYTHON" -c 'import archspec, pathlib; print(pathlib.Path(archspec.__file__).parent / "json/cpu/microarchitectures.json")')
cp -r tiny slow "$KILN_SOURCE/ci/apptainer" "$KILN_SOURCE/ci/debian_root.sh" "$KILN" "$archspec" "$home"
apptainer_here "$home/bin" "$home"
chown -R "$user:" "$home"
as_user() {
  setpriv --reuid="$user" --regid="$user" --init-groups env -i PATH="$home/bin:$PATH" HOME="$home" KILN_ENGINE=apptainer \
    KILN_ARCHSPEC="$home/microarchitectures.json" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" "$home/kiln" -C "$home" "$@"
}
manifest_of() { "$KILN_PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["manifest"])' "$1"; }
expect 0 as_user build -f tiny/tiny.json version=2.1 library=none
equals "$(manifest_of "$home"/.kiln/built/*.json)" "$(manifest_of older-state/built/*.json)"
as_user build -f slow/tiny.json --state stopped version=2.1 library=none >/dev/null 2>stopped.err &
job=$!
until pgrep -f "sleep $long" >/dev/null; do
  kill -0 "$job" 2>/dev/null || fail "the build ended: $(cat stopped.err)"
  sleep 0.1
done
kill -KILL "$(pgrep -P "$job" -f "^$home/kiln" || echo "$job")"
wait "$job" || true
soon no_sleepers
cp /etc/subuid /etc/subgid .
at_exit 'cp subuid /etc/subuid; cp subgid /etc/subgid'
edit "/^$user:/d" /etc/subuid /etc/subgid
rm -r "$home/tiny/recipes/framework/hello"
cp -r "$tiny/recipes/framework/hello" "$home/tiny/recipes/framework/"
expect 0 as_user build -f tiny/tiny.json --state single version=2.1 library=none
echo 'chown 33:33 /opt/kiln/hello/version' >>"$home/tiny/recipes/framework/hello/distro.sh"
expect 5 as_user build -f tiny/tiny.json --state single version=2.1 library=none
holds "$out$err" "$user has no subordinate ids, and this image's files belong to several users"
cp subuid /etc/subuid
cp subgid /etc/subgid
for state in .kiln stopped single; do
  expect 0 as_user gc --all --delete --state "$state"
  equals "$(ls -A "$home/$state")" lock
done
echo 'apptainer: the files that buildah gives'
