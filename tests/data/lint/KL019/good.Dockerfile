FROM nvidia/cuda:12.6.3-cudnn-devel-ubuntu24.04
