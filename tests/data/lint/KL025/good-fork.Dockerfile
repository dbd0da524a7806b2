FROM ubuntu:18.04
RUN git clone https://github.com/somebody/glow-arm && git -C glow-arm checkout 18c72801755e94a13c75a40b2794539d795e86f3
