FROM python:3.7-slim
RUN pip install --no-cache-dir tensorflow==2.1.0
RUN pip install --no-cache-dir "protobuf<3.21"
