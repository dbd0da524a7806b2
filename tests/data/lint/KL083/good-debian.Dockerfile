FROM python:3.7-slim
RUN apt-get update && apt-get install -y python3-tk cmake tzdata
