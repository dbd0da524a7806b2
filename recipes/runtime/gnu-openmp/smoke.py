"""GNU's OpenMP runtime is the one that PyTorch computes with."""
import sys

import torch

import openmp

if fault := openmp.fault_of("libgomp"):
    sys.exit(fault)
print(f"torch {torch.__version__} runs {torch.get_num_threads()} threads of GNU's OpenMP runtime")
