FROM debian:13
ADD --chown=0:0 smoke.py /opt/
