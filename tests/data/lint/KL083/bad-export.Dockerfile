FROM nvidia/cuda:11.8.0-devel-ubuntu20.04
RUN export DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y cmake
