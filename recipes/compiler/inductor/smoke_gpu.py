"""Triton, which Inductor writes its GPU kernels for, makes machine code for the target, without a GPU; where there is one, Inductor uses it."""
import os
import sys

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def double(source, result, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(result + at, tl.load(source + at, mask=inside) * 2, mask=inside)


sizes = []
for target in os.environ["KILN_GPU_TARGETS"].split():
    nvidia = target.startswith("sm_")
    gpu = GPUTarget("cuda", int(target[3:]), 32) if nvidia else GPUTarget("hip", target, 64)
    source = ASTSource(double, {"source": "*fp32", "result": "*fp32", "count": "i32", "BLOCK": "constexpr"}, {"BLOCK": 128})
    code = triton.compile(source, target=gpu).asm["cubin" if nvidia else "hsaco"]
    if not code.startswith(b"\x7fELF"):
        sys.exit(f"what Triton made for {target} is no machine code")
    sizes.append(f"{target}: {len(code)} bytes")
proof = "not run: there is no GPU here"
if torch.cuda.is_available():
    x = torch.randn(1000, device="cuda")
    found = torch.compile(lambda value: torch.sin(value) * 2 + value, fullgraph=True)(x)
    torch.testing.assert_close(found, torch.sin(x) * 2 + x)
    proof = f"Inductor ran on {torch.cuda.get_device_name()}"
print(f"triton {triton.__version__} makes code for {', '.join(sizes)}; {proof}")
