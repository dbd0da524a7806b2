"""LLVM's OpenMP runtime is the one that PyTorch computes with."""
import sys

import torch

import openmp

if fault := openmp.fault_of("libomp"):
    sys.exit(fault)
print(f"torch {torch.__version__} runs {torch.get_num_threads()} threads of LLVM's OpenMP runtime")
