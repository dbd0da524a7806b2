#!/bin/sh
# Makes each test of a program one of ctest's own without a process for each: some of them would read the same catalogues
# a hundred times. `one_test.sh PROGRAM` runs all and keeps what they print; `one_test.sh PROGRAM --gtest_filter=NAME …` shows
# that of one, and succeeds when it passed or was skipped. Any other option goes to the program.
set -u
program=$1
shift
case ${1-} in
  '')
    "$program" >"$program.log" 2>&1
    status=$?
    [ "$status" -eq 0 ] && exit 0
    # Which tests failed is for their own entries to say; of a crash, or of a leak found at the end, nobody else speaks.
    grep -q '^\[==========\] .* ran\.' "$program.log" && grep -qF '[  FAILED  ] ' "$program.log" && exit 0
    tail -n 40 "$program.log"
    echo "it ended with status $status"
    exit 1
    ;;
  --gtest_filter=*) exec awk -v name="${1#*=}" '
    index($0, "[ RUN      ] " name) && substr($0, length($0) - length(name) + 1) == name { inside = 1 }
    inside { print }
    inside && (index($0, "[       OK ] " name " (") || index($0, "[  SKIPPED ] " name " (")) { good = 1; exit }
    inside && index($0, "[  FAILED  ] " name) { exit }
    END { exit !good }' "$program.log" ;;
  *) exec "$program" "$@" ;;
esac
