"""One rank: adds its number to the others' by MPI, called directly, and by PyTorch where it is in the image."""
import ctypes
import importlib.util
import os
import sys

mpi = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_GLOBAL)
world, integer, add = 0x44000000, 0x4C000405, 0x58000003  # handles of the MPICH ABI
mpi.MPI_Init(None, None)
rank, size, length = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
text = ctypes.create_string_buffer(8192)
mpi.MPI_Get_library_version(text, ctypes.byref(length))
version = next(line.split()[-1] for line in text.value.decode().splitlines() if "Version:" in line)
own, total = ctypes.c_int(rank.value + 1), ctypes.c_int()
mpi.MPI_Allreduce(ctypes.byref(own), ctypes.byref(total), 1, integer, add, world)
if size.value != 2 or total.value != 3:
    sys.exit(f"rank {rank.value} of {size.value} finds the sum {total.value}")
if version != os.environ["KILN_VERSION"]:
    sys.exit(f"the library is {version}, not {os.environ['KILN_VERSION']}")
proof = ""
if importlib.util.find_spec("torch"):
    import torch
    import torch.distributed

    torch.distributed.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/meeting", rank=rank.value, world_size=size.value)
    tensor = torch.tensor([rank.value + 1.0])
    torch.distributed.all_reduce(tensor)
    if tensor.item() != 3:
        sys.exit(f"PyTorch finds the sum {tensor.item()}")
    torch.distributed.destroy_process_group()
    proof = ", PyTorch's too"
mpi.MPI_Finalize()
if rank.value == 0:
    print(f"MPICH {version}: two ranks add rightly{proof}")
