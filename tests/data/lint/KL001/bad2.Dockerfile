FROM debian:13
RUN cd /src
RUN . /opt/venv/bin/activate
