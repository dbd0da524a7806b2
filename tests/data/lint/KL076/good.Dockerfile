FROM debian:13
ADD rootfs.tar.xz /
ADD https://example.org/a.txt /
COPY smoke.py /opt/
ADD $SOURCE /opt/
