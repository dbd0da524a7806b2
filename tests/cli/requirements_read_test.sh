#!/usr/bin/env bash
# Each cell of the catalogues has the requirements files that its scripts read, and no other.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
export PYTHONDONTWRITEBYTECODE=1
check() { # check RECIPES MATRIX…: over the catalogues with these recipes
  local recipes=$1
  shift
  "$KILN_PYTHON" "$KILN_SOURCE/tests/cli/requirements_read.py" "$KILN" "$recipes" "$work/run" "$@"
}

expect 0 check "$KILN_SOURCE/recipes" "$KILN_SOURCE"/matrix/{current,paper,paper-debian,demo}.json
[ "${out%% *}" -ge 640 ] || fail "there are no more cells than: $out"

# It notices a file that no script reads, and one that is not where a script reads it.
cp -R "$KILN_SOURCE/recipes" copy
file=copy/framework/tensorflow/recipe.json
holds "$(<$file)" '"requirements-1.14.0-cpu.txt", "when": {"version": "1.14.0", "with": "base/ubuntu"}'
edit '/requirements-1.14.0-cpu/s|, "with": "base/ubuntu"||' $file
edit '/requirements-2.1.0-gpu/s|base/cuda|base/cuda@11|' $file
expect 1 check copy "$KILN_SOURCE/matrix/paper.json"
holds "$err" 'framework/tensorflow: no script reads requirements-1.14.0-cpu.txt (as in tensorflow-1.14.0-pip-'
holds "$err" 'framework/tensorflow/install.sh reads requirements-2.1.0-gpu.txt, which is not there (as in tensorflow-2.1.0-pip-'
equals "$(wc -l <.err)" 2
