#!/bin/sh -eu
# The bridge took operations of an ordinary graph over, in this very run, and the answer is right.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! NGRAPH_TF_LOG_PLACEMENT=1 NGRAPH_TF_DISABLE_DEASSIGN_CLUSTERS=1 "$(command -v python3 || command -v python2.7)" smoke.py >"$log" 2>&1; then
  cat "$log" >&2
  grep -q GenuineIntel /proc/cpuinfo || echo "this processor is not Intel's: nGraph runs on no other" >&2
  exit 1
fi
taken=$(sed -n 's/.*NGTF_SUMMARY: Number of nodes assigned a cluster: \([1-9][0-9]*\) .*/\1/p' "$log" | head -n 1)
[ -n "$taken" ] || { cat "$log" >&2; echo "nGraph was given no node of the graph" >&2; exit 1; }
echo "$(tail -n 1 "$log"), $taken operations encapsulated"
