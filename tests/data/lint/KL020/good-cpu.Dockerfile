FROM ubuntu:18.04
RUN pip3 install --no-cache-dir tensorflow==2.1.0 torch==1.4.0+cpu -f https://download.pytorch.org/whl/torch_stable.html
RUN pip3 install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu torch==2.6.0
