"""PyTorch's launcher of ranks, torch.distributed.run. Arguments are its own."""
import runpy

import meeting_point

meeting_point.make_ready()
runpy.run_module("torch.distributed.run", run_name="__main__", alter_sys=True)
