#!/usr/bin/env bash
# Docker's daemon dies in the middle of a step, and is started again: the build says so, leaves nothing, and the next one makes the same bits.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
if [ "$(id -u)" != 0 ] || ! command -v dockerd >/dev/null; then
  echo 'SKIPPED: root and dockerd are needed'
  exit 77
fi
# shellcheck source=tests/support/gate.sh
. "$KILN_SOURCE/tests/support/gate.sh"
# shellcheck source=tests/support/dockerd.sh
. "$KILN_SOURCE/tests/support/dockerd.sh"
start_dockerd
cp -r "$tiny" tiny
matrix=tiny/tiny.json
gated tiny/recipes/framework/hello/distro.sh
cell=(version=2.1 library=none)
digests() {
  "$KILN_PYTHON" -c 'import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/built/*.json")):
    record = json.load(open(path))
    print(record["tag"], record["manifest"])' "$1"
}
open_gate
expect 0 "$KILN" build -f "$matrix" --state quiet --engine docker "${cell[@]}"

echo '{"limits": {"retries": 0}}' >once.json
start "$work/state" --engine docker --site once.json
kill -KILL "$dockerd"
pkill -KILL -f "^containerd --config $work/" || true # its own, which would keep the next one out
wait "$dockerd" 2>/dev/null || true
timeout 300 tail --pid="$build" -f /dev/null || fail 'the build does not end'
status=0
wait "$build" || status=$?
out=$(cat build.out)
err=$(cat build.err)
[ "$status" != 0 ] || fail "a build without its engine is green: $out $err"
holds "$out$err" 'ocker daemon'
[ -z "$(ls state/built 2>/dev/null)" ] || fail 'there is an image'
equals "$(pgrep -af "step --state $work/" || true)" ''

rm -rf docker-bin docker.pid docker-exec/containerd/containerd.pid # of a dead process that nobody may have waited for
start_dockerd
at_exit "kill -KILL $dockerd; pkill -KILL -f '^containerd --config $work/' || true" # asked nicely, it waits for the containerd that is gone
open_gate
expect 0 "$KILN" build -f "$matrix" --state "$work/state" --engine docker "${cell[@]}"
equals "$(digests state)" "$(digests quiet)"
expect 0 "$KILN" --state state index fsck --deep
equals "$(docker ps --all --quiet | wc -l)" 0
echo "docker's daemon: ok ($status)"
