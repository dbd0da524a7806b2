"""A training step in PyTorch 1 and 2: eager, or compiled by Inductor where the image has it. Images are channels first."""
from __future__ import division

import numpy as np
import torch
import torch.nn.functional as F
import torch.utils.data
from torch import nn

from harness import Wrong, processors
from layers import EPSILON, KEPT

CHANNELS_FIRST = True
VERSION = torch.__version__.split("+")[0]


def device():
    return "gpu" if torch.cuda.is_available() else "cpu"


class Mean(nn.Module):
    def forward(self, x):
        return x.mean((2, 3)) if x.dim() == 4 else x.mean(1)


class Flatten(nn.Module):
    def forward(self, x):
        return torch.flatten(x, 1)


class Residual(nn.Module):
    def __init__(self, main, shortcut):
        super(Residual, self).__init__()
        self.main, self.shortcut = main, shortcut

    def forward(self, x):
        return self.main(x) + self.shortcut(x)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super(Attention, self).__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        def by_heads(y):
            return y.reshape(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

        query, key, value = by_heads(self.query(x)), by_heads(self.key(x)), by_heads(self.value(x))
        if hasattr(F, "scaled_dot_product_attention"):
            mixed = F.scaled_dot_product_attention(query, key, value)
        else:
            mixed = torch.softmax(torch.matmul(query, key.transpose(2, 3)) / query.shape[-1] ** 0.5, dim=3).matmul(value)
        return self.output(mixed.transpose(1, 2).reshape(x.shape))


def made(layer):
    inputs = layer.takes[-1]
    if layer.kind == "convolution":
        return nn.Conv2d(inputs, layer.filters, layer.size, layer.stride, layer.padding, bias=layer.bias)
    if layer.kind == "dense":
        return nn.Linear(inputs, layer.units)
    if layer.kind == "batch_norm":
        return nn.BatchNorm2d(inputs, eps=EPSILON, momentum=1 - KEPT)
    if layer.kind == "layer_norm":
        return nn.LayerNorm(inputs, eps=EPSILON)
    if layer.kind == "max_pool":
        return nn.MaxPool2d(layer.size, layer.stride, layer.padding)
    if layer.kind == "attention":
        return Attention(inputs, layer.heads)
    if layer.kind == "residual":
        return Residual(sequence(layer.main), sequence(layer.shortcut))
    return {"relu": nn.ReLU, "flatten": Flatten, "mean": Mean}[layer.kind]()


def with_weights(layer):
    """The module of a layer, its parameters in the order in which it was given them."""
    module = made(layer)
    if layer.kind != "residual":
        parameters = list(module.parameters())
        for parameter, array in zip(parameters, layer.weights):
            if layer.kind == "convolution" and array.ndim == 4:
                array = array.transpose(3, 2, 0, 1)
            elif array.ndim == 2:
                array = array.T
            if len(parameters) != len(layer.weights) or tuple(parameter.shape) != array.shape:
                raise Wrong("PyTorch's %s has other parameters than it should" % layer.kind)
            parameter.data.copy_(torch.from_numpy(np.ascontiguousarray(array)))
    return module


def sequence(layers):
    return nn.Sequential(*[with_weights(layer) for layer in layers])


def tensor(examples):
    if examples.ndim == 4:
        examples = examples.transpose(0, 3, 1, 2)
    return torch.from_numpy(np.ascontiguousarray(examples))


def generated_by_inductor():
    import torch._inductor.metrics as metrics
    from torch._dynamo.utils import counters

    # A warm cache loads kernels without generating them.
    if metrics.generated_kernel_count == 0 and counters["inductor"]["fxgraph_cache_hit"] == 0:
        raise Wrong("Inductor generated no kernel")
    return "inductor"


class Training(object):
    def __init__(self, network, plan, batch, settings):
        del batch
        unknown = [name for name in settings.compilers if name != "inductor"]
        if unknown:
            raise Wrong("%s compiles no training step of PyTorch" % " and ".join(unknown))
        torch.set_num_threads(settings.threads)
        self.place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.rank = 0
        module = sequence(plan).to(self.place)
        self.parameters = sum(parameter.numel() for parameter in module.parameters())
        if settings.ranks > 1:
            module = self.join(module, settings)
        self.module = module
        self.optimiser = torch.optim.SGD(module.parameters(), lr=network.RATE)
        self.inductor = "inductor" in settings.compilers
        self.variant = "inductor" if self.inductor else "eager"
        # DistributedDataParallel is cut where its buckets end, so there the graph has breaks.
        self.loss = torch.compile(self._loss, backend="inductor", fullgraph=settings.ranks == 1) if self.inductor else self._loss

    def join(self, module, settings):
        """Data-parallel over the ranks that torch's launcher has started; gradients are averaged over Gloo, or NCCL for GPUs."""
        import meeting_point
        import torch.distributed as group

        meeting_point.make_ready()
        group.init_process_group("nccl" if self.place.type == "cuda" else "gloo", init_method="env://")
        if group.get_world_size() != settings.ranks:
            raise Wrong("there are %d ranks, not %d" % (group.get_world_size(), settings.ranks))
        self.rank = group.get_rank()
        return nn.parallel.DistributedDataParallel(module)

    def _loss(self, examples, labels):
        return F.cross_entropy(self.module(examples), labels)

    def put(self, examples, labels):
        return tensor(examples).to(self.place), torch.from_numpy(labels.astype(np.int64)).to(self.place)

    def step(self, examples, labels):
        self.optimiser.zero_grad()
        loss = self.loss(examples, labels)
        loss.backward()
        self.optimiser.step()
        return loss.item()  # waits until it is computed

    def compiled(self):
        return generated_by_inductor() if self.inductor else False


class LoadedBatches(torch.utils.data.Dataset):
    """Batch `number`, converted where it is loaded: in a worker; and how many processors that may use."""

    def __init__(self, batches, count):
        self.batches, self.count = batches, count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        if number >= self.count:
            raise IndexError(number)
        examples, labels = self.batches[number % len(self.batches)]
        return tensor(examples), torch.from_numpy(labels.astype(np.int64)), processors()


def loader(training, batches, settings):
    """What each step needs, from worker processes: (examples, labels, processors of the worker)."""
    loaded = torch.utils.data.DataLoader(LoadedBatches(batches, settings.steps + 1), batch_size=None, num_workers=settings.workers)
    for examples, labels, allowed in loaded:
        yield examples.to(training.place), labels.to(training.place), allowed


class OpenVinoGraphs:
    """What OpenVINO compiles from now on: Dynamo has its graphs also where the backend hands them on to Inductor."""

    def __init__(self):
        import openvino.torch  # noqa: F401 (gives PyTorch the backend)
        from openvino.frontend.pytorch.torchdynamo import execute

        self.compiled = []
        compile_graph = execute.openvino_compile

        def noted(*args, **kwargs):
            self.compiled.append(compile_graph(*args, **kwargs))
            return self.compiled[-1]

        execute.openvino_compile = noted


class Inference(object):
    """By Inductor, or by a compiler that lends PyTorch a backend of its own name."""

    rank = 0
    parameters = 0

    def __init__(self, network, plan, batch, settings):
        del network, batch
        known = [name for name in settings.compilers if name in ("inductor", "openvino")]
        if known != settings.compilers or len(known) > 1 or settings.ranks > 1:
            raise Wrong("no inference with PyTorch by %s on %d ranks" % (" and ".join(settings.compilers) or "itself", settings.ranks))
        torch.set_num_threads(settings.threads)
        self.place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        module = sequence(plan).to(self.place).eval()
        self.parameters = sum(parameter.numel() for parameter in module.parameters())
        self.compiler = known[0] if known else ""
        self.variant = self.compiler or "eager"
        self.by_openvino = OpenVinoGraphs() if self.compiler == "openvino" else None
        # Without AOT autograd, OpenVINO's backend hands models with a convolution on to Inductor and says nothing (2026.4.1).
        options = {"aot_autograd": True} if self.by_openvino else None
        self.scores = torch.compile(module, backend=self.compiler, fullgraph=True, options=options) if self.compiler else module

    def put(self, examples, labels):
        return tensor(examples).to(self.place), labels

    def step(self, examples, labels):
        del labels
        with torch.no_grad():
            return self.scores(examples).cpu().numpy()  # waits until it is computed

    def compiled(self):
        if self.by_openvino:
            if not self.by_openvino.compiled:
                raise Wrong("OpenVINO compiled no graph")
            return "openvino"
        return generated_by_inductor() if self.compiler else False
