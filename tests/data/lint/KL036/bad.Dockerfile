FROM ubuntu:18.04
RUN curl -fsSLO https://github.com/bazelbuild/bazel/releases/download/1.2.1/bazel-1.2.1-installer-linux-x86_64.sh && sh bazel-1.2.1-installer-linux-x86_64.sh
RUN git clone https://github.com/tensorflow/tensorflow.git && cd tensorflow && git checkout v2.1.0 && bazel build //tensorflow/tools/pip_package:build_pip_package
