FROM debian:13
RUN apt-get update && apt-get install -y --no-install-recommends gcc
