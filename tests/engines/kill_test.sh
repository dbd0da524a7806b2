#!/usr/bin/env bash
# What is left when kiln is killed or told to stop, with the real buildah: no process, no folder, no second run beside
# the first; and what a step sees of the machine.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
cell=(version=2.1 library=none)
script=tiny/recipes/framework/hello/distro.sh
cp "$script" plain.sh

# Processes of steps are known by how long they sleep, which no other process of the machine does.
long=$((100000 + $$))
at_work() { # lists the processes of steps
  pgrep -a -x sleep | grep -E " $long\$" || true
  pgrep -a -f "step --state $work/" || true
}
gone() { [ -z "$(at_work)" ]; }

# slow_step [LINE]: the step of hello says "at work", runs LINE and stays.
slow_step() {
  { cat plain.sh; echo 'echo "at work"'; echo "${1:-sleep $long}"; } >"$script"
}
log_of() { # of the step that stays
  grep -l 'at work' "$1"/logs/*.log 2>/dev/null | head -n 1
}
# start STATE [OPTION]…: builds in the background, and returns when the slow step is at work.
start() {
  local state=$1
  shift
  rm -rf "$state"
  "$KILN" build -f "$matrix" --state "$state" "${cell[@]}" --format json "$@" >build.out 2>build.err &
  build=$!
  until [ -n "$(log_of "$state")" ]; do
    kill -0 "$build" 2>/dev/null || fail "the build ended: $(cat build.err)"
    sleep 0.05
  done
}
ended() { # ended STATUS: the build of start() has ended so
  local status=0
  wait "$build" || status=$?
  out=$(cat build.out)
  equals "$status" "$1"
}
child_of() { # child_of PID NAME: the youngest process below PID whose command line holds NAME
  local child
  for child in $(pgrep -P "$1"); do
    if tr '\0' ' ' <"/proc/$child/cmdline" 2>/dev/null | grep -e "$2" >/dev/null; then
      echo "$child"
      return
    fi
    child_of "$child" "$2"
  done
}

# 1. kiln is killed: everything that it started goes with it.
slow_step
start killed
kill -KILL "$build"
ended 137
soon gone

# 2. So when ninja is killed; kiln says so, and returns when the steps are gone.
start ninja
kill -KILL "$(child_of "$build" '^ninja')"
ended 6
[ -z "$(at_work)" ] || fail "a killed ninja left at work: $(at_work)"
holds "$(cat build.err)" 'ninja was killed by signal 9'
equals "$(json '[(image["verdict"], image["reason"][:16]) for image in it["images"]]')" "[('not reached', 'ninja was killed')]"

# 3. A step that is killed is the reason why its image is not there.
start step
kill -KILL "$(child_of "$build" ' step --state')"
ended 1
soon gone
equals "$(json 'it["images"][0]["verdict"]')" failed
holds "$(json 'it["images"][0]["reason"]')" 'hello 2.1 (distro): killed'
holds "$(json 'it["images"][0]["log"]')" "$work/step/logs/"
expect 0 "$KILN" plan -f "$matrix" --state step "${cell[@]}" --format json
equals "$(json '[step["title"] for step in it["steps"].values() if step["state"] == "failed"]')" "['hello 2.1 (distro)']"

# 4. On SIGINT and SIGTERM kiln comes back when the steps have cleaned up, and the engine's cache is still good.
for signal in INT TERM; do
  start stopped
  kill "-$signal" "$build"
  ended 130
  [ -z "$(at_work)" ] || fail "a build that was told to stop left at work: $(at_work)"
  equals "$(ls -A stopped/tmp)" '.lock'
  equals "$(ls -A stopped/engine.sessions)" ''
  equals "$(ls -A stopped/running)" ''
done
# Also when the step does not want to go, and when it needs its time.
slow_step "trap '' TERM; sleep $long & wait; sleep $long"
start stubborn
kill -INT "$build"
ended 130
[ -z "$(at_work)" ] || fail "a step that ignores SIGTERM is at work: $(at_work)"

# 5. What a step started does not outlive it, whatever it did to be left alone.
# shellcheck disable=SC2016 # for the step's shell
slow_step '(setsid sh -c "trap \"\" HUP TERM INT; sleep '"$long"'" </dev/null >/dev/null 2>&1 &); sleep 1'
expect 0 "$KILN" build -f "$matrix" --state daemon "${cell[@]}"
[ -z "$(at_work)" ] || fail "the daemon of a step is at work: $(at_work)"

# 6. A step sees its own processes, and can reach no other; so do tests, and scripts that make bases.
sleep "$long" &
other=$!
# shellcheck disable=SC2016
slow_step 'set -- /proc/[0-9]*; echo "processes: $#"; test "$#" -lt 20; if kill -0 '"$other"' 2>/dev/null; then exit 1; fi
for file in /proc/[0-9]*/environ; do if tr "\\0" "\\n" <"$file" | grep "^CANARY="; then exit 1; fi; done'
cp tiny/recipes/base/busybox/rootfs.sh rootfs.sh
# shellcheck disable=SC2016
edit '2i set -- /proc/[0-9]*; test "$#" -lt 20; (setsid sleep '"$long"' </dev/null >/dev/null 2>\&1 \&)' tiny/recipes/base/busybox/rootfs.sh
CANARY=1 expect 0 "$KILN" build -f "$matrix" --state alone "${cell[@]}"
kill "$other"
wait "$other" || true
[ -z "$(at_work)" ] || fail "a base's script left at work: $(at_work)"
cp rootfs.sh tiny/recipes/base/busybox/rootfs.sh

# 7. The same step is not run twice at once: the second waits for the first, and finds its work done.
cp plain.sh "$script"
edit '2i echo "at work"; sleep 3' "$script"
start twice
key=$(basename "$(log_of twice)" .log)
expect 0 "$KILN" step --state twice --plan tiny "$key"
holds "$out" '"state":"up_to_date"'
ended 0
equals "$(json 'it["built"]')" 1

# 8. A SIF that was not finished, and what was pulled for it, go with the next one.
cp plain.sh "$script"
mkdir temporary sifs
export TMPDIR=$work/temporary
layout=$(echo "$work"/twice/images/hello/2.1-*)
for _ in 1 2 3; do
  "$KILN" sif "oci:$layout" -o sifs/hello.sif --compression gzip --level 9 >/dev/null 2>&1 &
  sif=$!
  until [ -n "$(find sifs -name '.*' -type f)" ] || ! kill -0 "$sif" 2>/dev/null; do :; done
  kill -KILL "$sif" 2>/dev/null || true
  wait "$sif" || true
done
[ -n "$(find sifs -name '.*' -type f)" ] || fail 'no SIF was killed half-way'
touch sifs/.hello.sif.backup # not ours
expect 0 "$KILN" sif "oci:$layout" -o sifs/hello.sif
equals "$(find sifs -type f | sort)" 'sifs/.hello.sif.backup
sifs/hello.sif'
echo "kill: nothing is left"
