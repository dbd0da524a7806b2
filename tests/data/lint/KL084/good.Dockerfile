FROM ubuntu:22.04
RUN ./configure && make -j"$(nproc)" && make -j 8 check && make install && cmake --build b --parallel 4
