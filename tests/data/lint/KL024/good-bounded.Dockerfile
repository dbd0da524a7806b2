FROM python:3.9-slim
RUN pip install --no-cache-dir tensorflow==2.6.5 && pip install --no-cache-dir tensorflow==2.12.0
