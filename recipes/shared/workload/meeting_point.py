"""Where PyTorch's ranks meet (torch.distributed.TCPStore), in builds without libuv such as Debian's: since 2.4 it asks for that library unless it is
told otherwise, and neither the launcher nor the ranks that it starts have a way to tell it everywhere (torch/distributed/rendezvous.py of 2.6).
"""
import sys

import torch.distributed as distributed


def has_libuv():
    try:
        distributed.TCPStore("127.0.0.1", 0, is_master=True, use_libuv=True)
    except TypeError:  # of before there was a choice
        return True
    except RuntimeError as error:
        return "libuv" not in str(error)
    return True


def make_ready():
    """Before anything meets: in the launcher, and in each rank."""
    if has_libuv():
        return
    rendezvous = sys.modules["torch.distributed.rendezvous"]  # the package has a function of that name

    class PlainStore(distributed.TCPStore):
        def __init__(self, *arguments, **options):
            options["use_libuv"] = False
            super(PlainStore, self).__init__(*arguments, **options)

    distributed.TCPStore = rendezvous.TCPStore = PlainStore
