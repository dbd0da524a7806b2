"""TVM is the version asked for; a model of the image's framework becomes machine code for the target and gives the right answer here."""
import os
import sys
import warnings

warnings.filterwarnings("ignore", message="Failed to JIT torch c dlpack")

import numpy as np
import tvm
from tvm import relax

wanted = os.environ["KILN_VERSION"]
if tvm.__version__ != wanted:
    sys.exit(f"tvm is {tvm.__version__}, not {wanted}")
rng = np.random.default_rng(0)
weights, biases, x = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,), (5, 4)))
right = np.maximum(x @ weights + biases, 0)


def from_onnx():
    import onnx
    from tvm.relax.frontend import onnx as frontend

    import onnx_model

    model = onnx.load_from_string(onnx_model.model(weights.tolist(), biases.tolist()))
    onnx.checker.check_model(model)
    return frontend.from_onnx(model, shape_dict={"x": list(x.shape)})


def from_torch():
    import torch
    from tvm.relax.frontend.torch import from_exported_program

    dense = torch.nn.Linear(4, 3)
    with torch.no_grad():
        dense.weight.copy_(torch.from_numpy(weights.T.copy()))
        dense.bias.copy_(torch.from_numpy(biases))
    return from_exported_program(torch.export.export(torch.nn.Sequential(dense, torch.nn.ReLU()).eval(), (torch.from_numpy(x),)))


def native_parts(module):
    if module.kind == "llvm":
        yield module
    for part in module.imports:
        yield from native_parts(part)


module = from_torch() if os.environ["KILN_FRAMEWORK_NAME"] == "pytorch" else from_onnx()
here = tvm.compile(module, target=tvm.target.Target("llvm"))
output = relax.VirtualMachine(here, tvm.cpu())["main"](tvm.runtime.tensor(x))
found = output if hasattr(output, "numpy") else output[0]
np.testing.assert_allclose(found.numpy(), right, rtol=1e-4, atol=1e-5)
if not list(native_parts(here.mod)):
    sys.exit("TVM made no machine code")

# archspec's names of these are LLVM's but for the dash: x86_64_v3, neoverse_v1.
cpu = os.environ["KILN_CPU_TARGET"].replace("_", "-")
triple = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}[os.environ["KILN_CPU_FAMILY"]]
built = tvm.compile(module, target=tvm.target.Target({"kind": "llvm", "mtriple": triple, "mcpu": cpu}))
assembly = "".join(part.inspect_source("asm") for part in native_parts(built.mod))
if ".text" not in assembly:
    sys.exit(f"TVM made no machine code for {cpu}")
print(f"tvm {wanted}: {len(assembly.splitlines())} lines of assembly for {cpu}; run here, equal to NumPy")
