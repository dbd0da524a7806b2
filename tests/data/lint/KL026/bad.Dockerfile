FROM ubuntu:22.04
RUN pip install --no-cache-dir --extra-index-url https://pypi.example.org/simple ourtool==1.2
