"""Proves that TorchInductor compiles here: a fresh C++ kernel is mapped into this process and equals eager mode.

A fallback to eager mode gives right answers too, so the answers alone prove nothing: the cache starts empty (smoke.sh), errors
are not suppressed, kernels are counted, and the compiled library must be mapped.
"""
import os
import pathlib
import sys

import torch
import torch._dynamo
import torch._inductor.metrics as metrics

torch._dynamo.config.suppress_errors = False
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8))
samples, labels = torch.randn(16, 32), torch.randint(0, 8, (16,))


def loss_of(inputs, targets):
    return torch.nn.functional.cross_entropy(torch.sin(model(inputs)) * 2, targets)


def step(function):
    model.zero_grad()
    loss = function(samples, labels)
    loss.backward()
    return loss.detach(), [parameter.grad.clone() for parameter in model.parameters()]


eager = step(loss_of)
compiled = step(torch.compile(loss_of, backend="inductor", fullgraph=True))
torch.testing.assert_close(compiled, eager)

if metrics.generated_kernel_count == 0:
    sys.exit("Inductor generated no kernel")
cache = os.path.realpath(os.environ["TORCHINDUCTOR_CACHE_DIR"])
mapped = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if cache in line}
libraries = sorted(path for path in mapped if path.endswith(".so"))
if not libraries:
    sys.exit("no compiled kernel is mapped into the process")
print(f"inductor: {metrics.generated_kernel_count} kernels generated, {len(libraries)} compiled libraries mapped")
