FROM nvidia/cuda:10.1-cudnn7-devel-ubuntu18.04 AS build
ARG BAZEL=0.29.1
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip python3-dev git wget unzip g++ \
    && rm -rf /var/lib/apt/lists/*
RUN wget -q https://github.com/bazelbuild/bazel/releases/download/${BAZEL}/bazel-${BAZEL}-installer-linux-x86_64.sh \
    && bash bazel-${BAZEL}-installer-linux-x86_64.sh
RUN pip3 install numpy==1.18.5 keras_preprocessing==1.1.2
ENV TF_NEED_CUDA=1 TF_CUDA_COMPUTE_CAPABILITIES=6.1
RUN git clone -b v2.1.0 https://github.com/tensorflow/tensorflow.git /usr/src/tensorflow
WORKDIR /usr/src/tensorflow
RUN ./configure </dev/null && bazel build --config=opt --config=cuda --copt=-march=broadwell //tensorflow/tools/pip_package:build_pip_package \
    && ./bazel-bin/tensorflow/tools/pip_package/build_pip_package /opt/wheels

FROM nvidia/cuda:10.1-cudnn7-devel-ubuntu18.04
RUN apt-get update && apt-get install -y --no-install-recommends \
        python3 python3-pip python3-dev \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/wheels /opt/wheels
RUN pip3 install --no-cache-dir /opt/wheels/tensorflow-2.1.0-cp36-cp36m-linux_x86_64.whl
HEALTHCHECK CMD python3 -c "import tensorflow"
