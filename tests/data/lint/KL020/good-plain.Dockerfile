FROM ubuntu:22.04
RUN pip3 install --no-cache-dir torch==2.6.0 onnxruntime-gpu==1.19.2
