FROM debian:13
RUN set -e; ./configure; make
RUN ./configure && make
RUN for file in a b; do rm "$file"; done
