"""The network in PyTorch: eager, or compiled by Inductor when the image has it."""
import sys

import torch
import torch.nn.functional as F
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution1 = nn.Conv2d(1, 32, 3)
        self.convolution2 = nn.Conv2d(32, 64, 3)
        self.dense1 = nn.Linear(9216, 128)
        self.dense2 = nn.Linear(128, 10)

    def forward(self, images):
        x = F.relu(self.convolution1(images))
        x = F.max_pool2d(F.relu(self.convolution2(x)), 2)
        x = F.relu(self.dense1(torch.flatten(x, 1)))
        return F.log_softmax(self.dense2(x), dim=1)


class Training:
    version = torch.__version__.split("+")[0]

    def __init__(self, batch, compilers):
        torch.manual_seed(0)
        self.network = Network()
        self.parameters = sum(parameter.numel() for parameter in self.network.parameters())
        self.optimiser = torch.optim.SGD(self.network.parameters(), lr=0.01)
        self.images = torch.randn(batch, 1, 28, 28)
        self.labels = torch.randint(0, 10, (batch,))
        self.threads = torch.get_num_threads()
        self.compiled = "inductor" in compilers
        self.loss = torch.compile(self._loss, backend="inductor", fullgraph=True) if self.compiled else self._loss
        self.graphs = 0

    def _loss(self, images, labels):
        return F.nll_loss(self.network(images), labels)

    def step(self):
        self.optimiser.zero_grad()
        loss = self.loss(self.images, self.labels)
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def compiled_lately(self):
        if not self.compiled:
            return False
        from torch._dynamo.utils import counters

        before, self.graphs = self.graphs, counters["stats"]["unique_graphs"]
        return self.graphs != before

    def check_compiled(self):
        if not self.compiled:
            return
        import torch._inductor.metrics as metrics

        # A warm cache loads kernels without generating them.
        from torch._dynamo.utils import counters

        if metrics.generated_kernel_count == 0 and counters["inductor"]["fxgraph_cache_hit"] == 0:
            sys.exit("train_pytorch.py: Inductor generated no kernel")
