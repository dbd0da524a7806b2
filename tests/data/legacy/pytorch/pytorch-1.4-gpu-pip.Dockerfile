FROM nvidia/cuda:10.1-cudnn7-runtime-ubuntu18.04
RUN apt-get update && apt-get install -y --no-install-recommends \
        python3 python3-pip python3-dev \
    && rm -rf /var/lib/apt/lists/*
RUN pip3 install --no-cache-dir torch==1.4.0 torchvision==0.5.0
ENV PATH=/opt/tools/bin:$PATH
VOLUME /data
