FROM ubuntu:22.04
RUN ./configure && make -j && make install
