FROM ubuntu:18.04
SHELL ["/bin/bash", "-c"]
ENV CC=clang-8 CXX=clang++-8
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip python3-dev llvm-8 clang-8 git cmake make wget ca-certificates && rm -rf /var/lib/apt/lists/*
RUN git clone --recursive --branch v1.4.0 https://github.com/pytorch/pytorch.git /usr/src/pytorch
WORKDIR /usr/src/pytorch
RUN pip3 install -r requirements.txt && python3 setup.py install
RUN git clone --recursive https://github.com/pytorch/glow.git /usr/src/glow \
    && cmake -S /usr/src/glow -B /usr/src/glow/build -DCMAKE_BUILD_TYPE=Release -DLLVM_DIR=/usr/lib/llvm-8/lib/cmake/llvm \
    && make -C /usr/src/glow/build -j8 install
RUN <<EOF
rm -rf /usr/src/pytorch
ldconfig
EOF
ENV LD_LIBRARY_PATH=/usr/local/lib
