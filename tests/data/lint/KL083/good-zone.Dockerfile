FROM ubuntu:18.04
RUN ln -snf /usr/share/zoneinfo/Etc/UTC /etc/localtime && echo Etc/UTC >/etc/timezone
RUN apt-get update && apt-get install -y python3-tk
