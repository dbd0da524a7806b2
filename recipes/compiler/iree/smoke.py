"""IREE is the version asked for; a model in ONNX's format becomes machine code for the target, and gives the right answer here.

IREE's runtime has an interpreter, too: so the compiled module must contain ELF files, and nothing for that interpreter.
"""
import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile

import iree.compiler
import iree.runtime
import numpy as np

import onnx_model

wanted = os.environ["KILN_VERSION"]
for package in ("iree-base-compiler", "iree-base-runtime"):
    if importlib.metadata.version(package) != wanted:
        sys.exit(f"{package} is {importlib.metadata.version(package)}, not {wanted}")
rng = np.random.default_rng(0)
weights, biases, x = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,), (5, 4)))


def compiled(source, *arguments):
    return iree.compiler.compile_file(str(source), input_type="onnx", target_backends=["llvm-cpu"], extra_args=arguments)


with tempfile.TemporaryDirectory() as folder:
    model, source, dumped = (pathlib.Path(folder, name) for name in ("model.onnx", "model.mlir", "dumped"))
    model.write_bytes(onnx_model.model(weights.tolist(), biases.tolist()))
    subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", model, "-o", source], check=True)
    here = compiled(source, "--iree-llvmcpu-target-cpu=host")
    # archspec's names of these are LLVM's but for the dash: x86_64_v3, neoverse_v1.
    cpu = os.environ["KILN_CPU_TARGET"].replace("_", "-")
    compiled(source, f"--iree-llvmcpu-target-cpu={cpu}", f"--iree-hal-dump-executable-intermediates-to={dumped}")
    assembly = "".join(file.read_text() for file in dumped.glob("*.s"))

parts = here.count(b"\x7fELF")
if parts == 0 or b"vmvx" in here:
    sys.exit(f"the compiled module has {parts} parts of machine code")
found = iree.runtime.load_vm_flatbuffer(here, driver="local-task")["dense"](x).to_host()
np.testing.assert_allclose(found, np.maximum(x @ weights + biases, 0), rtol=1e-4, atol=1e-5)
if ".text" not in assembly:
    sys.exit(f"IREE made no machine code for {cpu}")
print(f"iree {wanted}: {len(assembly.splitlines())} lines of assembly for {cpu}; {len(here)} bytes with machine code ran here, equal to NumPy")
