FROM debian:13 AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc
FROM debian:13
RUN apt-get update && apt-get install -y --no-install-recommends gcc && rm -rf /var/lib/apt/lists/*
RUN --mount=type=cache,target=/var/lib/apt apt-get update && apt-get install -y --no-install-recommends make
