FROM debian:13
RUN export TF_NEED_CUDA=1 && ./configure
RUN cd /src && make
ENV PATH=/opt/bin:$PATH
