FROM ubuntu:18.04
ENV BAZEL_VERSION 0.24.1
RUN curl -L https://github.com/tensorflow/tensorflow/archive/refs/tags/v1.13.2.tar.gz | tar xz
