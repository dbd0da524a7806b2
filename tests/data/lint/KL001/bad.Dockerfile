FROM debian:13
RUN export TF_NEED_CUDA=1
RUN ./configure
