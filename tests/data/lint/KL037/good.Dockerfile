FROM ubuntu:18.04
RUN pip3 install --no-cache-dir torch==1.4.0
RUN git clone --recursive https://github.com/pytorch/glow && cd glow/torch_glow && python3 setup.py install
