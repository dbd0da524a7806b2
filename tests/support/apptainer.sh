# shellcheck shell=bash
# A real Apptainer as a program of this machine (ci/apptainer): sourced after script.sh.

# apptainer_here FOLDER [CI]: makes FOLDER/apptainer; CI: where ci/apptainer lies for who runs it. False where none is installed.
apptainer_here() {
  [ -x "${KILN_APPTAINER_ROOT:-/opt/kiln-apptainer}/usr/bin/apptainer" ] || return 1
  mkdir -p "$1"
  printf '#!/bin/sh\nexec "%s/apptainer" here "$@"\n' "${2:-$KILN_SOURCE/ci}" >"$1/apptainer"
  chmod +x "$1/apptainer"
  "$1/apptainer" --version >/dev/null # as root: it makes places for the machine's folders
}
