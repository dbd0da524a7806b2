"""meeting_point.py: which builds of PyTorch are told to do without libuv. PyTorch itself is in the images alone; what its store answers in each of its ages is written from torch/distributed/distributed_c10d.py and TCPStore.cpp.
"""
import os
import shutil
import subprocess
import sys
import unittest

import recipe_files

STORE = """
import sys, types

class TCPStore(object):
    def __init__(self, host, port, is_master=False, %(parameters)s):
        %(body)s
        self.made = (host, port, locals().get("use_libuv"))

torch, distributed, rendezvous = (types.ModuleType(name) for name in ("torch", "torch.distributed", "torch.distributed.rendezvous"))
torch.distributed, distributed.TCPStore, rendezvous.TCPStore = distributed, TCPStore, TCPStore
distributed.rendezvous = lambda: None  # a function under the module's name, as in PyTorch
sys.modules.update({"torch": torch, "torch.distributed": distributed, "torch.distributed.rendezvous": rendezvous})

import meeting_point
meeting_point.make_ready()
print(distributed.TCPStore is TCPStore, rendezvous.TCPStore is distributed.TCPStore, rendezvous.TCPStore("here", 1, is_master=True).made)
"""
WITHOUT = 'if use_libuv: raise RuntimeError("use_libuv was requested but PyTorch was built without libuv support")'


class MeetingPoint(unittest.TestCase):
    def setUp(self):
        self.folder = recipe_files.lay_out("mnist-cnn")
        self.addCleanup(shutil.rmtree, self.folder)

    def answer(self, parameters, body):
        with open(os.path.join(self.folder, "asked.py"), "w") as file:
            file.write(STORE % {"parameters": parameters, "body": body})
        return subprocess.check_output([sys.executable, "-B", "asked.py"], cwd=self.folder, universal_newlines=True).strip()

    def test_a_build_without_libuv_is_told_so(self):
        self.assertEqual("False True ('here', 1, False)", self.answer("use_libuv=True", WITHOUT))

    def test_a_build_with_libuv_keeps_its_store(self):
        self.assertEqual("True True ('here', 1, True)", self.answer("use_libuv=True", "pass"))

    def test_an_older_one_knows_no_choice(self):
        self.assertEqual("True True ('here', 1, None)", self.answer("timeout=300", "pass"))

    def test_another_fault_is_not_taken_for_it(self):
        self.assertEqual("True True ('here', 1, None)", self.answer("timeout=300, use_libuv=None",
                                                                    'if use_libuv: raise RuntimeError("the address is in use")'))


if __name__ == "__main__":
    unittest.main()
