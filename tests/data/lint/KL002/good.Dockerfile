FROM debian:13
ENV CUDA_HOME=/usr/local/cuda
