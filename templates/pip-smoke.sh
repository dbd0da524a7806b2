#!/bin/sh -eu
# {{name}} is the version asked for, and the one that programs of this image get. That it is installed proves little: let it compute
# something whose answer is known, and fail where it would fall back in silence.
exec "/opt/kiln/{{name}}/bin/python3" - <<'PYTHON'
import os
import sys
from importlib import metadata

found = metadata.version("{{package}}")
if found != os.environ["KILN_VERSION"]:
    sys.exit(f"{{package}} is {found}, not {os.environ['KILN_VERSION']}")
print(f"{{package}} {found}")
PYTHON
