FROM python:3.7-slim
COPY constraints.txt /
RUN pip install --no-cache-dir -c /constraints.txt tensorflow==2.1.0
