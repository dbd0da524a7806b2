FROM debian:13
RUN ./configure; make; make install
