FROM ubuntu:18.04
RUN apt-get update && apt-get install -y python3-pip && pip3 install --no-cache-dir tensorflow==2.1.0
