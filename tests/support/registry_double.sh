# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# The registry of ours (registry_double.py): sourced after script.sh.
#   start_double [OPTION…]   $double is its host; what it held is gone with stop_double; it ends with the script
#   faults [LINE…]           what goes wrong from now on; without a line nothing
#   release                  lets go on what a fault `hold` holds, until the next faults
#   asked PATTERN            how many of the requests since the last forget_requests match `METHOD TARGET STATUS WHO`
double_folder=$work/double
mkdir -p "$double_folder"
double_process=
start_double() {
  rm -f "$double_folder/port"
  : >"$double_folder/requests"
  "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/registry_double.py" "$double_folder" "$@" &
  double_process=$!
  until [ -e "$double_folder/port" ]; do
    kill -0 "$double_process" 2>/dev/null || fail 'the double of a registry does not start'
    sleep 0.05
  done
  double=127.0.0.1:$(cat "$double_folder/port")
}
stop_double() {
  kill "$double_process"
  wait "$double_process" 2>/dev/null || true
  double_process=
}
end_double() { [ -z "$double_process" ] || kill "$double_process" 2>/dev/null || true; }
at_exit end_double

faults() {
  rm -f "$double_folder/release"
  printf '%s\n' "$@" >"$double_folder/faults.part"
  mv "$double_folder/faults.part" "$double_folder/faults"
}
release() { : >"$double_folder/release"; }
forget_requests() { : >"$double_folder/requests"; }
asked() { grep -cE "$1" "$double_folder/requests" || true; }
# wait_for_request PATTERN: until one matches, half a minute at most.
wait_for_request() {
  for _ in $(seq 600); do
    [ "$(asked "$1")" = 0 ] || return 0
    sleep 0.05
  done
  fail "nobody asked for $1"
}
