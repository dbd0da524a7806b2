#!/bin/sh -eu
# Installs requirements.txt for the Python that the framework has: that of its virtual environment, else the first on PATH.
python=/opt/kiln/${KILN_FRAMEWORK_NAME:-none}/bin/python3
[ -x "$python" ] || python=$(command -v python3) || {
  echo 'requirements.sh: the image has no python3' >&2
  exit 3
}
before=$(mktemp)
run_pip() {
  "$python" -m pip "$@"
}
if ! "$python" -m pip --version >/dev/null 2>&1; then
  # A distribution's Python has no pip of its own, but may hold one for new environments.
  tools=$(mktemp -d)
  "$python" -m venv "$tools" || {
    echo 'requirements.sh: the image has no pip; install one with --run, or derive from an image that has one' >&2
    exit 3
  }
  run_pip() {
    PIP_BREAK_SYSTEM_PACKAGES=1 "$tools/bin/python3" -m pip --python "$python" "$@"
  }
fi
run_pip --quiet --no-cache-dir --disable-pip-version-check install --no-compile -r requirements.txt
# Images are read-only where they run, so byte code is made now; unchecked, so that no time stamp enters the image.
"$python" - "$before" <<'PYTHON' | "$python" -m compileall -q --invalidation-mode unchecked-hash -i -
import os
import sys
import sysconfig

begun = os.stat(sys.argv[1]).st_ctime_ns
for root in sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}):
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name.endswith(".py") and os.lstat(path).st_ctime_ns >= begun:
                print(path)
PYTHON
rm -rf "$before" "${tools:-}" /root/.cache
