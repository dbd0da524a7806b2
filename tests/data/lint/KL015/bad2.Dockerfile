ARG TAG=latest
FROM registry.example.org:5000/ubuntu:$TAG AS build
