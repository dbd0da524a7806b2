FROM ubuntu:20.04
ARG TF_VERSION=2.7.0
RUN pip install --no-cache-dir "tensorflow==${TF_VERSION}"
RUN pip install --no-cache-dir "protobuf>=3.9"
