FROM rockylinux:9
RUN dnf install -y gcc
