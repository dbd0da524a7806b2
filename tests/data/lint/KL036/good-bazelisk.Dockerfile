FROM ubuntu:22.04
RUN curl -LO https://github.com/bazelbuild/bazelisk/releases/download/v1.19.0/bazelisk-linux-amd64
RUN git clone -b v2.4.1 https://github.com/tensorflow/tensorflow && bazelisk-linux-amd64 build x
