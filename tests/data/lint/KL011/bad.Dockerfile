FROM debian:13
RUN git clone --branch master https://example.org/a
