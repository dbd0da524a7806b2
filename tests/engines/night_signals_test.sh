#!/usr/bin/env bash
# A night that is told to end at the terminal, once and twice; and full disks: the registry's as it is pushed to, ours as the
# index is written. What was there stays, and the next night makes it whole. The engine is none (fake_step.cc).
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/registry_double.sh
. "$KILN_SOURCE/tests/support/registry_double.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json
hello=tiny/recipes/framework/hello/distro.sh
: >fates
cat >site.json <<J
{"launcher": ["$KILN_BUILD/tests/fake_step", "$work/fates"], "formats": ["oci"], "jobs": 2, "pull": {"retries": 1, "stall": "3s"},
 "nightly": {"every": "0s", "update": {"proposals": 0}}}
J
report() { out=$(cat .kiln/nights/tiny/latest/night.json) && json "$1"; }
rows() { "$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(sorted((row["tag"], row["manifest"]) for row in json.load(sys.stdin)))'; }
nothing_at_work() { ! pgrep -f "$work/fates" >/dev/null; }
key_of_hello() {
  expect 0 "$KILN" plan -f "$matrix" --format json
  json '[key for key, step in it["steps"].items() if step["title"] == "hello 2.1 (distro)"][0]'
}

expect 0 "$KILN" nightly -f "$matrix"
before=$(rows)

# start FATE: a night in a session of its own, as at a terminal, whose step of hello does so; returns when that is at work.
start() {
  echo "# $1 $SECONDS" >>"$hello"
  key=$(key_of_hello)
  echo "$key $1" >fates
  rm -f ".kiln/logs/$key.log"
  setsid "$KILN" nightly -f "$matrix" >running.out 2>running.err &
  running=$!
  until_true "$running" running.err grep -qs '^3$' ".kiln/logs/$key.log"
}
ended() { # of the night, with exit code 130, without waiting for its step of ten minutes
  local status=0
  wait "$running" || status=$?
  equals "$status" 130
  [ $((SECONDS - told)) -le 120 ] || fail "it took $((SECONDS - told)) s to end"
  soon nothing_at_work # a script that heeds nothing has the ten seconds of its step
  equals "$(report 'it["state"], it["exit_code"], it["is_new_snapshot"], len(it["images"])')" 'interrupted 130 False 7'
  equals "$("$KILN_PYTHON" -c 'import sys, xml.etree.ElementTree as tree; print(len(list(tree.parse(sys.argv[1]).iter("testcase"))))' .kiln/nights/tiny/latest/junit.xml)" 8
  equals "$(rows)" "$before"
  expect 1 "$KILN" nightly -f "$matrix" --status --format json
  equals "$(json 'it["runs"], it["trouble"]')" ' the last night was interrupted'
}
goes_on() {
  : >fates
  expect 0 "$KILN" nightly -f "$matrix" --format json
  equals "$(json 'it["state"], it["is_new_snapshot"]')" 'green True'
  equals "$(json 'sum(image["verdict"] == "unchanged" for image in it["images"]) < 7')" True
  before=$(rows)
}

# 1. As a terminal sends it: to all of them at once. The children go first.
start slow
told=$SECONDS
kill -INT -- "-$running"
ended
goes_on

# 2. Whoever does not want to wait says it again.
start stubborn
told=$SECONDS
kill -INT -- "-$running"
sleep 1.5
kill -INT -- "-$running" 2>/dev/null || true
ended
goes_on

# 3. The registry's disk is full: nothing is recorded that is not there; with room the next night pushes it.
start_double --auth none
echo '# full' >>"$hello"
faults 'POST uploads full'
expect 6 "$KILN" nightly -f "$matrix" --to "http://$double/ai" --format json
equals "$(json 'it["state"], it["is_new_snapshot"]')" 'red False'
holds "$(json 'it["troubles"]')" 'the registry has no space left'
equals "$(rows)" "$before"
faults
expect 0 "$KILN" nightly -f "$matrix" --to "http://$double/ai" --format json
equals "$(json 'it["state"], it["is_new_snapshot"]')" 'green True'
holds "$(json 'it["registry"]')" '7 images pushed'
stop_double

# 4. Our own disk is full as the index is written, at one page or another: exit code 8, the old index answers, and with room all is well.
[ "$(id -u)" = 0 ] || { echo 'signals: a disk of its own needs root' && exit 0; }
cp -r .kiln state
rm -rf .kiln
mkdir .kiln
mount -t tmpfs -o size=512m kiln .kiln || { echo 'signals: no disk of its own here' && exit 0; }
cp -r state/. .kiln/
resize() { mount -o "remount,size=$1" .kiln; }
failed=0
for room in 0 4 12 24 40 64 96; do
  before=$(rows)
  echo "# room $room" >>"$hello"
  expect 0 "$KILN" build -f "$matrix" # what is left to a night is to publish
  rm -f .kiln/nights.reserve # without which the night has no room
  resize "$(($(df --output=used --block-size=1k .kiln | tail -n 1) + room))k"
  status=0
  "$KILN" nightly -f "$matrix" --no-gc >full.out 2>full.err || status=$?
  case $status in
    0) ;;
    8) failed=$((failed + 1)) ;; # before the index was written, or at the report behind it
    *) fail "exit status $status with $room KiB of room: $(cat full.out full.err)" ;;
  esac
  meanwhile=$(rows)
  resize 512m
  for file in .kiln/nights/tiny/*/night.json; do "$KILN_PYTHON" -m json.tool "$file" >/dev/null || fail "$file is cut"; done
  expect 0 "$KILN" nightly -f "$matrix" --format json
  equals "$(json 'it["state"]')" green
  [ "$meanwhile" = "$before" ] || equals "$meanwhile" "$(rows)" # old or new, and nothing between
  [ "$(rows)" != "$before" ] || fail "with $room KiB of room and then more: nothing new"
  expect 0 "$KILN" index fsck --deep
done
[ "$failed" -gt 2 ] || fail "only $failed of the disks were full"
equals "$(find .kiln -name '.*.tmp' -o -name '*.part')" ''

# 5. With the room that a night keeps for itself: on a disk without a free byte it collects, builds, publishes and reports.
[ "$(stat -c %s .kiln/nights.reserve)" = $((16 << 20)) ] || fail 'no room is kept'
echo '# reserve' >>"$hello"
before=$(rows)
resize "$(df --output=used --block-size=1k .kiln | tail -n 1)k"
expect 0 "$KILN" nightly -f "$matrix" --format json
equals "$(json 'it["state"], it["is_new_snapshot"]')" 'green True'
holds "$(json 'it["remarks"]')" 'the disk is full: the night has given up the room that it keeps, and collects garbage first'
[ "$(rows)" != "$before" ] || fail 'nothing new'
resize 512m
expect 0 "$KILN" nightly -f "$matrix" --format json
lacks "$(json 'it.get("remarks", [])')" 'the disk is full'
[ "$(stat -c %s .kiln/nights.reserve)" = $((16 << 20)) ] || fail 'room again, and none is kept'
echo "signals: two ways to be told to end, $failed full disks"
