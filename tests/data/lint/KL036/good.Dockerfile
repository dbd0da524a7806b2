FROM ubuntu:18.04
RUN curl -fsSLO https://github.com/bazelbuild/bazel/releases/download/0.29.1/bazel-0.29.1-installer-linux-x86_64.sh
RUN git clone https://github.com/tensorflow/tensorflow && cd tensorflow && git checkout v2.1.0
