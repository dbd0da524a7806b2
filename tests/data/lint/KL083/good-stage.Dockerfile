FROM ubuntu:18.04 AS one
ENV DEBIAN_FRONTEND noninteractive
FROM one
RUN apt-get update && apt-get install -y python3-tk
