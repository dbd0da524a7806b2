"""Trains a small network on made digits in PyTorch, alone or as one of several ranks that torchrun started.

    train_digits.py RESULT [STEPS [SECONDS]]

RESULT.RANK gets the last loss and the sum of the weights' bits. Each step has 64 pictures of which a rank takes its share, so equal
steps give equal losses however many ranks there are. A step takes at least SECONDS. With KILN_CHECKPOINT_PATH the state is kept there
after each step, and a later run goes on from it.
"""
import hashlib
import os
import sys
import time

import torch
import torch.distributed as ranks
from torch import nn

result, steps, seconds = sys.argv[1], int((sys.argv[2:] or ["20"])[0]), float((sys.argv[3:] or ["0"])[0])
rank, size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
torch.manual_seed(1)
torch.set_num_threads(1)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 13 * 13, 10))
if size > 1:
    ranks.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
first = 0
kept = os.environ.get("KILN_CHECKPOINT_PATH", "")
if kept and os.path.exists(kept):
    state = torch.load(kept)
    first = state["step"]
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    print(f"goes on at step {first}", flush=True)
for step in range(first, steps):
    began = time.monotonic()
    dice = torch.Generator().manual_seed(step)
    digits = torch.randint(0, 10, (64,), generator=dice)
    pictures = torch.randn(64, 1, 28, 28, generator=dice) + digits.view(-1, 1, 1, 1) / 3
    share = slice(rank * 64 // size, (rank + 1) * 64 // size)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(pictures[share]), digits[share])
    loss.backward()
    optimizer.step()
    if kept and rank == 0:
        torch.save({"step": step + 1, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, kept + ".new")
        os.replace(kept + ".new", kept)
    print(f"step {step}", flush=True)
    time.sleep(max(0.0, seconds - (time.monotonic() - began)))
total = loss.detach().clone()
if size > 1:
    ranks.all_reduce(total)
weights = hashlib.sha256(b"".join(one.detach().numpy().tobytes() for one in model.parameters())).hexdigest()
with open(f"{result}.{rank}", "w") as file:
    print(f"{total.item() / size:.4f} {weights}", file=file)
if size > 1:
    ranks.destroy_process_group()
