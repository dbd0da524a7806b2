"""ExecuTorch is the version asked for; it lowered a model of PyTorch to XNNPACK in this very run, its runtime ran that program, and the answer
equals eager mode.

What XNNPACK does not take stays with portable operators, which give right answers too: so the program's delegates are read, and operators
beside them are an error.
"""
import importlib.metadata
import os
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

DELEGATE = "XnnpackBackend"
wanted = os.environ["KILN_VERSION"]
found = importlib.metadata.version("executorch")
if found != wanted:
    sys.exit(f"executorch is {found}, not {wanted}")
runtime = Runtime.get()
if DELEGATE not in runtime.backend_registry.registered_backend_names:
    sys.exit(f"the runtime has no {DELEGATE}; it has {runtime.backend_registry.registered_backend_names}")

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).eval()
x = torch.randn(16, 32)
lowered = to_edge_transform_and_lower(torch.export.export(model, (x,)), partitioner=[XnnpackPartitioner()]).to_executorch()
plan = lowered.executorch_program.execution_plan[0]
delegates, others = [delegate.id for delegate in plan.delegates], [operator.name for operator in plan.operators]
if set(delegates) != {DELEGATE} or others:
    sys.exit(f"the program has the delegates {delegates} and the operators {others}")
method = runtime.load_program(lowered.buffer).load_method("forward")
with torch.no_grad():
    torch.testing.assert_close(method.execute([x])[0], model(x), rtol=1e-4, atol=1e-5)
print(f"executorch {wanted}: a program of {len(lowered.buffer)} bytes, all of it XNNPACK's, equal to eager mode")
