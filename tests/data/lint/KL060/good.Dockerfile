FROM debian:13
ARG VERSION=1.0
ENV TOKENIZERS_PARALLELISM=false
ENV TOKEN_FILE=/run/secrets/token
ENV API_KEY=$API_KEY
RUN --mount=type=secret,id=hf_token cat /run/secrets/hf_token
