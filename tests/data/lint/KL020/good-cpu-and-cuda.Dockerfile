FROM nvidia/cuda:12.6.3-runtime-ubuntu24.04 AS cpu
RUN pip3 install --no-cache-dir cupy-cuda12x==13.3.0
