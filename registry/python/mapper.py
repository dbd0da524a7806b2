#!/usr/bin/env python3
"""What MODAK's mapper does: a job document in, the same document out, with the container that it is to run in."""
import json
import sys

import kiln

state, file = sys.argv[1:]
with open(file, encoding="utf-8") as document:
    job = json.load(document)
with kiln.Registry(state) as registry:
    try:
        image = registry.reference(job, host="any", lenient=True)
    except kiln.NoMatch as why:
        sys.exit(str(why))
job["job"].setdefault("application", {})["container_runtime"] = image
print(json.dumps(job, indent=2))
