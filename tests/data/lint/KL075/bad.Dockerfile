FROM debian:13
RUN sudo -E ldconfig
