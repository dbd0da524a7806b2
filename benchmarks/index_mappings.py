#!/usr/bin/env python3
"""index_mappings.py IMAGES [FIRST]: so many mappings of images as JSON on stdout, always the same ones: ten applications, some
versions, targets and graph compilers of each. FIRST: the number of the first, 0 unless told."""
import json
import sys

APPLICATIONS = ["pytorch", "tensorflow", "mxnet", "keras", "openmpi", "mpich", "gromacs", "lammps", "openfoam", "horovod"]
TARGETS = [("x86", "none"), ("x86", "nvidia"), ("x86", "amd"), ("arm", "none"), ("arm", "nvidia"), ("power", "nvidia")]
COMPILERS = [{}, {"xla": True}, {"inductor": True}, {"xla": True, "mkldnn": True}]


def mapping(i):
    cpu, acc = TARGETS[i // 10 % len(TARGETS)]
    application = APPLICATIONS[i % len(APPLICATIONS)]
    version = f"{1 + i // 60 % 4}.{i // 240 % 30}.{i // 7200}"
    return {"opt_dsl_code": f"{application}-{version}-{cpu}-{acc}-{i}", "app_name": application, "version": version,
            "enable_opt_build": i % 3 != 0, "target": {"cpu_type": cpu, "acc_type": acc},
            "selectors": COMPILERS[i // 7 % len(COMPILERS)], "container_name": f"site/{application}:{version}-{cpu}-{acc}-{i}"}


count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
print("[" + ",\n".join(json.dumps(mapping(i)) for i in range(first, first + count)) + "]")
