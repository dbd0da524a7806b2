#!/bin/sh -eu
# ROCm is the version asked for, and the loader finds HIP and the libraries that the frameworks' plugins are linked with.
found=$(cat /opt/rocm/.info/version)
case $found in
  "$KILN_FACT_ROCM" | "$KILN_FACT_ROCM".*) ;;
  *) echo "ROCm is $found, not $KILN_FACT_ROCM" >&2; exit 1 ;;
esac
libraries=$(ldconfig -p)
for library in libamdhip64.so librocblas.so libMIOpen.so librccl.so; do
  case $libraries in
    *"$library"*) ;;
    *) [ -e "/opt/rocm/lib/$library" ] || { echo "there is no $library" >&2; exit 1; } ;;
  esac
done
echo "ROCm $found"
