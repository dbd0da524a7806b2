FROM debian:13
RUN echo 'export CUDA_HOME=/usr/local/cuda' >/etc/profile.d/cuda.sh
