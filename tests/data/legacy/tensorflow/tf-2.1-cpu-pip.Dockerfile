FROM ubuntu:18.04
RUN apt-get update && apt-get install -y --no-install-recommends \
        python3 python3-pip python3-dev \
    && rm -rf /var/lib/apt/lists/*
RUN pip3 install --no-cache-dir tensorflow-cpu==2.1.0
