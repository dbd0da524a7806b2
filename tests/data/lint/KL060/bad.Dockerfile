FROM debian:13
ENV DB_PASSWORD=hunter2hunter2
