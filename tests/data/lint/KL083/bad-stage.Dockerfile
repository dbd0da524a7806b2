ARG DEBIAN_FRONTEND=noninteractive
FROM ubuntu:22.04 AS one
RUN apt-get update && apt-get install -y gcc
FROM one
RUN apt-get update && apt-get install -y tzdata
