"""PyTorch's own NCCL is the version asked for, the only one in the process; where there are GPUs, it adds over all of them."""
import os
import pathlib
import sys

import torch

wanted = os.environ["KILN_VERSION"]
found = ".".join(map(str, torch.cuda.nccl.version()))
if found != wanted:
    sys.exit(f"PyTorch's NCCL is {found}, not {wanted}")
mapped = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libnccl.so" in line}
if len(mapped) != 1:
    sys.exit(f"the process maps {sorted(mapped) or 'no libnccl'}")
count = torch.cuda.device_count()
proof = "not run: there is no GPU here"
if count:
    tensors = [torch.full((4,), float(index + 1), device=f"cuda:{index}") for index in range(count)]
    torch.cuda.nccl.all_reduce(tensors)
    if any(tensor.sum().item() != 4 * count * (count + 1) / 2 for tensor in tensors):
        sys.exit("NCCL adds wrongly")
    proof = f"added over {count} GPUs"
print(f"nccl {found} at {mapped.pop()}, {proof}")
