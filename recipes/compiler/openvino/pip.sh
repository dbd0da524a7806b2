#!/bin/sh -eu
# Installs OpenVINO $KILN_VERSION from hash-checked wheels into the framework's virtual environment, beside the NumPy that is there; for
# ONNX Runtime, the build of the same version that has OpenVINO inside.
site="/opt/kiln/$KILN_FRAMEWORK_NAME"
version=$("$site/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
pip() {
  "$site/bin/python3" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"
}
case $KILN_FRAMEWORK_NAME in
  onnxruntime)
    # Both install the same files.
    pip uninstall --yes onnxruntime
    requirements=requirements-onnxruntime-$KILN_FACT_ONNXRUNTIME.txt
    ;;
  *) requirements=requirements-$KILN_VERSION-py$version.txt ;;
esac
pip install --require-hashes --no-deps --only-binary :all: --no-compile -r "$requirements"
pip check
"$site/bin/python3" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$site/lib"
rm -rf /root/.cache
