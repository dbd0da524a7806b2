FROM debian:13
ENV LD_LIBRARY_PATH=/opt/blis/lib
