"""Proves that Glow is active: the traced graph has a node of Glow's in place of PyTorch's own, and equals eager mode."""
import sys

import torch
import torch_glow


def function(x, y):
    return torch.relu(x + y) * y


torch.manual_seed(0)
x, y = torch.randn(8, 8), torch.randn(8, 8)
right = function(x, y)
torch_glow.setGlowBackend("CPU")  # LLVM's code; the default interprets
torch_glow.enableFusionPass()
with torch.no_grad():
    traced = torch.jit.trace(function, (x, y), check_trace=False)
    found = traced(x, y)
    graph = str(traced.graph_for(x, y))
if "glow::FusionGroup" not in graph:
    sys.exit("PyTorch gave Glow nothing:\n" + graph)
torch.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4)
print("glow: a fused group, equal to eager mode")
