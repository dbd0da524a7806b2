FROM debian:13
RUN PATH=/opt/bin:$PATH
