FROM debian:13
RUN wget https://example.org/a.deb \
    # a comment of Docker
    && dpkg -i a.deb
