FROM debian:13
RUN python3 -m pip install --no-cache-dir --upgrade pip
