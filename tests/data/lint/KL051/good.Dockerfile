FROM debian:13
RUN pip install --no-cache-dir numpy==1.26.4
