FROM debian:13
ENV CFLAGS="-O2 -march=x86-64-v3"
