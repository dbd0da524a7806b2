FROM docker.io/nvidia/cuda:10.1-cudnn7-devel-ubuntu18.04
