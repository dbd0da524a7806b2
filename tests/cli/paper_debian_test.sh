#!/usr/bin/env bash
# The paper's frameworks on Debian 11: which cells the matrix has, upon which Python they stand, and that what runs there is
# written for it. Nothing is built; tests/engines/paper_debian_test.sh does that.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
matrix=$KILN_SOURCE/matrix/paper-debian.json

expect 0 "$KILN" plan -f "$matrix" --format json
equals "$(json '"\n".join(cell["id"].replace("-x86_64_v3-debian_bullseye", "") for cell in it["cells"])')" \
  'tensorflow-1.14.0-pip
tensorflow-1.14.0-pip-ngraph
tensorflow-2.1.0-pip
tensorflow-2.1.0-pip-xla
pytorch-1.4.0-pip
mxnet-1.6.0-pip
mxnet-1.6.0-vendor
cntk-2.7-pip'
equals "$(json '[cell["reason"] for cell in it["excluded"]]')" \
  "['the table has XLA with TensorFlow 2.1', 'the nGraph bridge refuses any TensorFlow but 1.14']"
equals "$(json '[it["broken"], it["warnings"]]')" '[[], []]'

# Each stands on Debian's Python 2.7, and none has another. The paper's own catalogue goes on with Ubuntu's 3.6.
pythons() { # pythons MATRIX PATTERN…
  expect 0 "$KILN" show -f "$@" --stage plan
  json 'sorted({step["version"] for step in it["steps"].values() if step["component"] == "toolchain/python"})'
}
equals "$(pythons "$matrix")" "['2.7']"
equals "$(pythons "$KILN_SOURCE/matrix/paper.json" method=pip)" "['3.6']"
expect 0 "$KILN" show -f "$matrix" --stage plan
equals "$(json 'sorted({cell["labels"]["io.kiln.facts.python"] for cell in it["cells"]})')" "['2.7']"

# nGraph's images name the processors that they run on; the others run on any.
equals "$(json '{cell["id"]: cell["labels"]["io.kiln.facts.cpu_vendor"] for cell in it["cells"] if "io.kiln.facts.cpu_vendor" in cell["labels"]}')" \
  "{'tensorflow-1.14.0-pip-ngraph-x86_64_v3-debian_bullseye': 'GenuineIntel'}"

# What the tests of these images run is Python 2.7, too.
cat >python2.py <<'PYTHON'
"""Names what in the given files only Python 3 reads."""
import ast, sys

NEW = (ast.JoinedStr, ast.MatMult, ast.AnnAssign, ast.AsyncFunctionDef, ast.Await, ast.NamedExpr, ast.Nonlocal, ast.YieldFrom)


def only_3(node):
    if isinstance(node, (*NEW, ast.Starred)):
        # In a call's arguments Python 2 has one star, and it comes last.
        return True
    return isinstance(node, ast.arguments) and bool(node.kwonlyargs)


found = [f"{path}:{getattr(node, 'lineno', '?')}: {type(node).__name__}"
         for path in sys.argv[1:] for node in ast.walk(ast.parse(open(path).read())) if only_3(node)]
found += [f"{path}: not ASCII" for path in sys.argv[1:] if not open(path).read().isascii()]
sys.exit("\n".join(found) or 0)
PYTHON
mapfile -t scripts < <(json '"\n".join(sorted({step["component"] + "/" + name for step in it["steps"].values()
  for name in step["files"] if name in ("smoke.py", "smoke_tensorflow.py")}))')
equals "${scripts[*]}" 'compiler/ngraph/smoke.py compiler/xla/smoke_tensorflow.py framework/cntk/smoke.py framework/mxnet/smoke.py framework/pytorch/smoke.py framework/tensorflow/smoke.py'
expect 0 "$KILN_PYTHON" python2.py "${scripts[@]/#/$KILN_SOURCE/recipes/}"
expect 1 "$KILN_PYTHON" python2.py "$KILN_SOURCE/recipes/compiler/xla/smoke_jax.py"
holds "$err" JoinedStr
