FROM debian:13
RUN apt-get update
RUN apt-get install -y --no-install-recommends gcc
