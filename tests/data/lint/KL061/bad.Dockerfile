FROM debian:13
ENV PIP_INDEX_URL=https://user:secret@pypi.example.org/simple
