ARG TAG=18.04
FROM --platform=linux/amd64 ubuntu:${TAG} AS build
FROM build
FROM scratch
FROM $BASE
