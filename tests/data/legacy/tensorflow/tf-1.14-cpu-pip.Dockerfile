# TensorFlow 1.14 from its wheel
FROM ubuntu:18.04
LABEL maintainer="hpc-team"
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \
        python3 python3-pip python3-dev \
    && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /tmp/requirements.txt
RUN pip3 install --no-cache-dir -r /tmp/requirements.txt tensorflow==1.14.0 keras==2.2.5
HEALTHCHECK CMD python3 -c "import tensorflow"
EXPOSE 8888
