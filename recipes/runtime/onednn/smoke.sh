#!/bin/sh -eu
# oneDNN reports each of its primitives. A convolution is one only where the switch is on; matrix products go through oneDNN's GEMM
# in either case.
case ${TF_ENABLE_ONEDNN_OPTS:-} in
  1) ;;
  *) echo "TF_ENABLE_ONEDNN_OPTS is '${TF_ENABLE_ONEDNN_OPTS:-}', not 1" >&2; exit 1 ;;
esac
report=$(mktemp)
trap 'rm -f "$report"' EXIT
ONEDNN_VERBOSE=1 DNNL_VERBOSE=1 python3 smoke.py >"$report"
kernel=$(sed -n 's/^\(onednn\|dnnl\)_verbose.*,exec,cpu,convolution,\([^,]*\),.*/\2/p' "$report" | head -n 1)
[ -n "$kernel" ] || { echo "oneDNN ran no convolution:" >&2; tail -n 5 "$report" >&2; exit 1; }
echo "$(sed -n 's/^proof: //p' "$report") by the kernel $kernel"
