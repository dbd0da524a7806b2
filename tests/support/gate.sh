# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# A step that waits until the test lets it go on, with the same key before and after: sourced after script.sh, for its tiny catalogue.
#   gated SCRIPT              a build step's script, which then waits at its end for the gate
#   open_gate, close_gate     closed at first
#   starts                    how often such a step has got there
#   start STATE [OPTION…]     builds $cell of $matrix in the background, and returns when a step waits at the (closed) gate
#   ended STATUS              the build of `start` ends so, within a minute; $out and $err are what it said
mkdir "$work/gate"
"$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/gate.py" "$work/gate" &
gate=$!
at_exit "kill $gate 2>/dev/null || true"
until [ -e "$work/gate/port" ]; do
  kill -0 "$gate" 2>/dev/null || fail 'the gate does not start'
  sleep 0.05
done
: >"$work/gate/starts"
open_gate() { touch "$work/gate/open"; }
close_gate() { rm -f "$work/gate/open"; }
starts() { wc -l <"$work/gate/starts"; }
gated() {
  local url
  url=http://127.0.0.1:$(cat "$work/gate/port")
  printf '%s\n' "wget -q -O /dev/null $url/started" "until wget -q -O /dev/null $url/go 2>/dev/null; do sleep 0.1; done" >>"$1"
}
start() {
  local state=$1 before
  shift
  close_gate
  before=$(starts)
  "$KILN" build -f "$matrix" --state "$state" "${cell[@]}" --format json "$@" >"$work/build.out" 2>"$work/build.err" &
  build=$!
  until [ "$(starts)" -gt "$before" ]; do
    kill -0 "$build" 2>/dev/null || fail "the build ended: $(cat "$work/build.out" "$work/build.err")"
    sleep 0.05
  done
}
ended() {
  local status=0
  timeout 60 tail --pid="$build" -f /dev/null || fail 'the build does not end'
  wait "$build" || status=$?
  out=$(cat "$work/build.out")
  err=$(cat "$work/build.err")
  [ "$status" = "$1" ] || fail "exit status $status, expected $1: $out $err"
}
