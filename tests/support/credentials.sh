# shellcheck shell=bash disable=SC2154 # for the scripts that source script.sh
# make_certificate FOLDER: a certificate for the loopback interface, and $registry_address if there is one, in FOLDER/ca.crt, which is its own authority, and its FOLDER/key.pem.
# FOLDER is one that skopeo takes as --src-cert-dir and --dest-cert-dir; the key's name keeps it from being taken for a client's.
make_certificate() {
  mkdir -p "$1"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout "$1/key.pem" -out "$1/ca.crt" \
    -subj /CN=127.0.0.1 -addext "subjectAltName=IP:127.0.0.1,DNS:localhost,IP:${registry_address:-127.0.0.1}" 2>"$work/openssl.log" || {
    cat "$work/openssl.log"
    fail 'openssl makes no certificate'
  }
}
# own_home: nothing of who runs the test is read or written: credentials, certificates, policies, caches.
own_home() {
  unset REGISTRY_AUTH_FILE CONTAINERS_REGISTRIES_CONF SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE
  export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_DATA_HOME=$work/home/.local/share XDG_CACHE_HOME=$work/home/.cache
  export XDG_RUNTIME_DIR=$work/home/run DOCKER_CONFIG=$work/home/.docker
  mkdir -p "$HOME" "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" "$XDG_CACHE_HOME" "$DOCKER_CONFIG" "$XDG_RUNTIME_DIR"
  chmod 700 "$XDG_RUNTIME_DIR"
}
# write_auth_file FILE HOST NAME PASSWORD: the standard auth file. The password is in no process list.
write_auth_file() {
  printf '{"auths": {"%s": {"auth": "%s"}}}\n' "$2" "$(printf '%s:%s' "$3" "$4" | base64 -w 0)" >"$1"
  chmod 600 "$1"
}
