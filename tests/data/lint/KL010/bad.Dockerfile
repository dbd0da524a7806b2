FROM debian:13
RUN git clone --depth 1 https://github.com/pytorch/glow
