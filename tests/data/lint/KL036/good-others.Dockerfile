FROM ubuntu:18.04
ENV BAZEL_VERSION=1.2.1
RUN git clone https://github.com/tensorflow/tensorflow && cd tensorflow && git checkout v2.10.1
RUN git clone https://github.com/tensorflow/addons && cd addons && git checkout v2.1.0
RUN curl -LO https://github.com/bazelbuild/bazelisk/releases/download/v1.19.0/bazelisk-linux-amd64
