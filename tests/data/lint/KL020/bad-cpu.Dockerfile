FROM ubuntu:18.04
RUN pip3 install --no-cache-dir tensorflow-gpu==2.1.0
