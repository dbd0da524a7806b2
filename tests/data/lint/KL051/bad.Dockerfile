FROM debian:13
RUN pip install numpy==1.26.4
