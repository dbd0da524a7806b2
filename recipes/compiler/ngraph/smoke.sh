#!/bin/sh -eu
# The bridge took over an ordinary graph in this very run, and the answer is right.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
NGRAPH_TF_LOG_PLACEMENT=1 python3 smoke.py >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
grep -q 'NGTF_SUMMARY.*nGraph.*[1-9]' "$log" || { cat "$log" >&2; echo "nGraph was given no node of the graph" >&2; exit 1; }
tail -n 1 "$log"
