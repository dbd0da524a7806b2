FROM debian:13
ADD --checksum=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef https://example.org/a.tar.gz /src/
RUN wget https://example.org/a.deb && echo "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef  a.deb" | sha256sum -c - && dpkg -i a.deb
