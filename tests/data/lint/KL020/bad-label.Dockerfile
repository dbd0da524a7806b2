FROM python:3.7-slim
LABEL description="PyTorch for CPU nodes"
RUN pip install --no-cache-dir torch==1.4.0+cu92 -f https://download.pytorch.org/whl/torch_stable.html
