#!/usr/bin/env bash
# A state folder that another kiln works in: who it is, and --wait.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
matrix=$tiny/tiny.json

mkdir -p state
holder='kiln build of tiny by process 12 on elsewhere since 2026-11-20T10:00:00Z'
hold() { # holds the lock until its standard input ends
  printf '%s' "$holder" >state/lock
  flock state/lock sh -c 'echo held; cat >/dev/null'
}

coproc hold
read -r _ <&"${COPROC[0]}"
for command in build publish 'bench --workload count'; do
  # shellcheck disable=SC2086 # an option of its own
  expect 7 "$KILN" ${command%% *} -f "$matrix" --state state ${command#"${command%% *}"}
  holds "$err" "$work/state is in use: $holder"
  holds "$err" '--wait'
done

# It says for whom it waits, goes on as soon as it can, and stops when it is told to.
"$KILN" publish -f "$matrix" --state state --wait >/dev/null 2>told.err &
told=$!
"$KILN" publish -f "$matrix" --state state --wait >/dev/null 2>waited.err &
waited=$!
for file in told.err waited.err; do
  until grep 'waiting for' "$file" >/dev/null; do sleep 0.05; done
done
kill -INT "$told"
status=0
wait "$told" || status=$?
equals "$status" 130
kill -0 "$waited" || fail 'it did not wait'
eval "exec ${COPROC[1]}>&-"
status=0
wait "$waited" || status=$?
equals "$status" 4 # nothing is built
equals "$(head -n 1 waited.err)" "waiting for $work/state: $holder"
holds "$(cat waited.err)" 'nothing of '
expect 2 "$KILN" build -f "$matrix" --dry-run --wait
echo "lock and --wait: as promised"
