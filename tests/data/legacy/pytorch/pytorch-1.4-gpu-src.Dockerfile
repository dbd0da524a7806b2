FROM nvidia/cuda:10.1-cudnn7-devel-ubuntu18.04
SHELL ["/bin/bash", "-c"]
ENV CC=clang-8 CXX=clang++-8
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip python3-dev llvm-8 clang-8 git cmake make wget ca-certificates && rm -rf /var/lib/apt/lists/*
ENV TORCH_CUDA_ARCH_LIST="6.1"
RUN git clone --recursive --branch v1.4.0 https://github.com/pytorch/pytorch.git /usr/src/pytorch
WORKDIR /usr/src/pytorch
RUN pip3 install -r requirements.txt && python3 setup.py install
RUN <<EOF
rm -rf /usr/src/pytorch
ldconfig
EOF
ENV LD_LIBRARY_PATH=/usr/local/lib
