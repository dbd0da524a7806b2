"""XLA links the functions of libdevice into what it compiles for NVIDIA's GPUs: the file is here, where XLA looks for it.

In a wheel of NVIDIA's, or in CUDA's folder. Without it a GPU's first exp() ends the program.
"""
import glob
import os
import sys
import sysconfig

FILE = "nvvm/libdevice/libdevice*.bc"
site = sysconfig.get_paths()["purelib"]
places = [os.path.join(site, "nvidia", "cuda_nvcc"), os.path.join(site, "nvidia", "cu1?"), "/usr/local/cuda"]
found = [path for place in places for path in glob.glob(os.path.join(place, FILE))]
bitcode = [path for path in found if open(path, "rb").read(4) == b"BC\xc0\xde"]
if not bitcode:
    sys.exit("there is no libdevice: looked for %s in %s" % (FILE, ", ".join(places)))
print("xla: libdevice is %s" % bitcode[0])
