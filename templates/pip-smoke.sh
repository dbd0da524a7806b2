#!/bin/sh -eu
# Checks that programs of this image get {{name}} in the requested version. An installed component may still not work: let it compute
# a known result, and fail if it silently falls back.
exec "/opt/kiln/{{name}}/bin/python3" - <<'PYTHON'
import os
import sys
from importlib import metadata

found = metadata.version("{{package}}")
if found != os.environ["KILN_VERSION"]:
    sys.exit(f"{{package}} is {found}, not {os.environ['KILN_VERSION']}")
print(f"{{package}} {found}")
PYTHON
