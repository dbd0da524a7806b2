FROM ubuntu:18.04
RUN git clone https://github.com/pytorch/glow && git -C glow checkout b809e18d305f99c4e12d8cf5b5e26ff4b7a7a4ef
