# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# A step that waits until the test lets it go on, with the same key before and after: sourced after script.sh, for its tiny catalogue.
#   gated SCRIPT              a build step's script, which then waits at its end for the gate
#   open_gate, close_gate     closed at first
#   starts                    how often such a step has got there
#   start STATE [OPTION…]     builds $cell of $matrix in the background, and returns when a step waits at the (closed) gate
#   ended STATUS              the build of `start` ends so, within five minutes; $out and $err are what it said
mkdir "$work/gate"
"$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/gate.py" "$work/gate" &
gate=$!
at_exit "kill $gate 2>/dev/null || true"
: >"$work/gate/starts"
until_true "$gate" /dev/null [ -e "$work/gate/port" ]
open_gate() { touch "$work/gate/open"; }
close_gate() { rm -f "$work/gate/open"; }
has_started() { [ "$(starts)" -gt "$1" ]; }
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
  until_true "$build" "$work/build.err" has_started "$before"
}
ended() {
  local status=0
  timeout 300 tail --pid="$build" -f /dev/null || fail 'the build does not end'
  wait "$build" || status=$?
  out=$(cat "$work/build.out")
  err=$(cat "$work/build.err")
  [ "$status" = "$1" ] || fail "exit status $status, expected $1: $out $err"
}
