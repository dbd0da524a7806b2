# shellcheck shell=bash disable=SC2034 # variables are for the scripts that source this
# For the script tests: sourced with the private folder as $1. KILN is the program, KILN_SOURCE the source tree.
# In a pipe, grep reads to the end (no -q): whoever still writes to it would die of SIGPIPE, and pipefail would say so.
set -euo pipefail
work=$1

# An earlier run that was stopped may have left mounts behind.
unmount_all() {
  sed 's/\\040/?/g' /proc/mounts | awk -v below="$work/" 'index($2, below) == 1 {gsub(/[?]/, " ", $2); print $2}' | sort -r | xargs -r -d '\n' -n 1 umount
}
unmount_all
# at_exit COMMAND: the last one that was said runs first.
exit_commands=''
at_exit() {
  exit_commands="$1; $exit_commands"
  # shellcheck disable=SC2064 # as it is now
  trap "$exit_commands" EXIT
}
at_exit unmount_all
rm -rf "$work"
mkdir -p "$work"
cd "$work"
tiny=$KILN_SOURCE/tests/data/tiny
unset NO_COLOR KILN_FILE KILN_STATE KILN_SITE KILN_RECIPES KILN_JOBS KILN_COLOR KILN_PROGRESS SINGULARITY_DIR
export SOURCE_DATE_EPOCH=315532800

# Prints what the last command of `expect` wrote to stderr as well.
fail() {
  [ ! -s "$work/.err" ] || sed 's/^/  stderr: /' <(tail -n 40 "$work/.err") >&2
  echo "FAILED: $*" >&2
  exit 1
}

# expect STATUS COMMAND…: runs it, keeps stdout and stderr in $out and $err, and checks the exit status.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >"$work/.out" 2>"$work/.err" || status=$?
  out=$(cat "$work/.out")
  err=$(cat "$work/.err")
  if [ "$status" != "$wanted" ]; then
    echo "--- stdout"
    cat "$work/.out"
    fail "exit status $status, expected $wanted: $*"
  fi
}

# until_true PID FILE COMMAND…: waits until COMMAND succeeds. The process PID, which writes to FILE, must not end before.
until_true() {
  local process=$1 said=$2
  shift 2
  until "$@"; do
    if ! kill -0 "$process" 2>/dev/null && ! "$@"; then fail "the process has ended before: $*: $(cat "$said")"; fi
    sleep 0.05
  done
}

# soon COMMAND…: waits until COMMAND succeeds. The minute is for an event that never comes, not a promise of speed.
soon() {
  for _ in $(seq 600); do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "not within a minute: $*"
}

# edit SCRIPT FILE…: sed -i, of which each FILE must become another one.
edit() {
  local script=$1 file
  shift
  for file; do
    sed "$script" "$file" >"$work/.edited"
    if cmp -s "$file" "$work/.edited"; then fail "sed '$script' changes nothing in $file"; fi
    cat "$work/.edited" >"$file"
  done
}

# holds TEXT WORDS: TEXT must contain WORDS.
holds() {
  case $1 in
    *"$2"*) ;;
    *) fail "expected '$2' in: $1" ;;
  esac
}

lacks() {
  case $1 in
    *"$2"*) fail "did not expect '$2' in: $1" ;;
    *) ;;
  esac
}

equals() {
  [ "$1" = "$2" ] || fail "expected '$2', found '$1'"
}

# json EXPRESSION: evaluates a Python expression over the JSON in $out, named `it`.
json() {
  printf '%s' "$out" | "$KILN_PYTHON" -c "import json, sys; it = json.load(sys.stdin); print($1)"
}

# free_ports N [ADDRESS]: N that nobody has, and that the kernel gives to no connection in the meantime or while a server is started again:
# they are below its range.
free_ports() {
  "$KILN_PYTHON" - "$1" "${2:-127.0.0.1}" <<'PY'
import random, socket, sys
found = {}
while len(found) < int(sys.argv[1]):
    try:
        one = socket.socket()
        one.bind((sys.argv[2], random.randrange(20000, 30000)))
        found[one.getsockname()[1]] = one
    except OSError:
        pass
print(*found)
PY
}
