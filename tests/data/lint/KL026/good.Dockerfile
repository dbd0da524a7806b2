FROM ubuntu:22.04
RUN pip install --no-cache-dir --index-url https://pypi.example.org/simple ourtool==1.2
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cu118 torch==2.1.0+cu118
RUN uv pip install --extra-index-url https://pypi.example.org/simple ourtool==1.2
