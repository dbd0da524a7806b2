"""torch.compile gave its graph to OpenVINO, which compiled it for the CPU; the answer equals eager mode.

The backend falls back to Inductor where it fails, and says nothing: so what it compiles is noted, and the operations that the CPU's
plugin executes are counted.
"""
import os
import sys

import openvino
import torch
import openvino.torch  # registers the backend
from openvino.frontend.pytorch.torchdynamo import execute

wanted = os.environ["KILN_VERSION"]
if not openvino.__version__.startswith(wanted):
    sys.exit(f"openvino is {openvino.__version__}, not {wanted}")
device = openvino.Core().get_property("CPU", "FULL_DEVICE_NAME")

# Without AOT autograd the backend refuses a module's parameters in some releases; processors with bfloat16 would use it.
OPTIONS = {"aot_autograd": True, "config": {"INFERENCE_PRECISION_HINT": "f32"}}
compiled = []
compile_graph = execute.openvino_compile


def noted(*args, **kwargs):
    compiled.append(compile_graph(*args, **kwargs))
    return compiled[-1]


execute.openvino_compile = noted
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).eval()
x = torch.randn(16, 32)
with torch.no_grad():
    found = torch.compile(model, backend="openvino", options=OPTIONS)(x)
    torch.testing.assert_close(found, model(x), rtol=1e-3, atol=1e-3)
if not compiled:
    sys.exit("torch.compile gave OpenVINO nothing")
operations = sum(len(graph.get_runtime_model().get_ops()) for graph in compiled)
if operations == 0 or any(graph.get_property("EXECUTION_DEVICES") != ["CPU"] for graph in compiled):
    sys.exit("the CPU's plugin executes nothing of the graph")
print(f"openvino {wanted}: {operations} operations of {len(compiled)} graphs on {device}, equal to eager mode")
