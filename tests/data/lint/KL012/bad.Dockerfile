FROM debian:13
ADD https://example.org/a.tar.gz /src/
