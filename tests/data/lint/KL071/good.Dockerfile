FROM debian:13
RUN apt-get update && apt-get install -y --no-install-recommends gcc && rm -rf /var/lib/apt/lists/*
RUN apt-get install -y --no-install-recommends ./local.deb
