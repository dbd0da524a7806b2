"""XLA writes PTX for NVIDIA's GPUs and has `ptxas` make machine code of it: it is here, and it knows the target."""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

PTX = """.version {version}
.target {target}
.address_size 64
.visible .entry one(.param .u64 to) {{
    .reg .b64 %address;
    ld.param.u64 %address, [to];
    st.global.f32 [%address], 0f3F800000;
    ret;
}}
"""
# The PTX version that introduced a GPU (PTX ISA, release notes).
VERSIONS = {"sm_70": "6.0", "sm_75": "6.3", "sm_80": "7.0", "sm_86": "7.1", "sm_89": "7.8", "sm_90": "7.8", "sm_100": "8.6"}

site = pathlib.Path(sysconfig.get_paths()["purelib"])
found = [*site.glob("nvidia/cuda_nvcc/bin/ptxas"), *site.glob("nvidia/cu1?/bin/ptxas")] or [shutil.which("ptxas")]
if found[0] is None:
    sys.exit("there is no ptxas: XLA cannot make code for a GPU")
for target in os.environ["KILN_GPU_TARGETS"].split():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "one.ptx")
        source.write_text(PTX.format(version=VERSIONS[target], target=target))
        done = subprocess.run([str(found[0]), f"-arch={target}", str(source), "-o", str(source.with_suffix(".cubin"))],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{found[0]} makes no code for {target}: {done.stderr.strip()}")
print(f"xla: ptxas makes code for {os.environ['KILN_GPU_TARGETS']}")
