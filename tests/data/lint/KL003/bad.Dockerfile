FROM debian:13
ENV CFLAGS="-O2 -mtune=native"
