FROM ubuntu:18.04
RUN git clone --recursive https://github.com/pytorch/glow && mkdir b && cd b && cmake -G Ninja ../glow && ninja all
