FROM ubuntu:18.04
RUN pip3 install --no-cache-dir torch==1.4.0
RUN git clone --recursive https://github.com/pytorch/glow && mkdir b && cd b && cmake -G Ninja ../glow && ninja all
