# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# registry.sh as a site has it: TLS, name and password, and manifests may be deleted. Sourced after script.sh.
#   $host, start_registry, stop_registry, kill_registry   as there
#   collect_registry [OPTION…]                            its own garbage collection, while it is stopped
#   $registry_name, $registry_password                    who may
#   $certificates/ca.crt, SSL_CERT_FILE                   what proves it
#   REGISTRY_AUTH_FILE                                    the auth file that lets in; nothing else of a home is there (credentials.sh)
# shellcheck source=tests/support/credentials.sh
. "$KILN_SOURCE/tests/support/credentials.sh"
own_home
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
rm registries.conf
unset CONTAINERS_REGISTRIES_CONF

registry_name=kiln registry_password=secret-of-the-registry
certificates=$work/certificates
make_certificate "$certificates"
write_auth_file "$work/auth.json" "$host" "$registry_name" "$registry_password"
# The registry knows bcrypt only, and computes it at each request: the least cost.
printf '%s\n' "$registry_password" |
  perl -e 'chomp(my $word = <STDIN>); print "$ARGV[0]:", crypt($word, "\$2b\$04\$abcdefghijklmnopqrstuu"), "\n"' "$registry_name" >htpasswd
cat >registry.yml <<YML
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage:
  filesystem: {rootdirectory: $work/registry}
  delete: {enabled: true}
http:
  addr: "$host"
  relativeurls: true
  tls: {certificate: $certificates/ca.crt, key: $certificates/key.pem}
auth: {htpasswd: {realm: kiln, path: $work/htpasswd}}
YML
export SSL_CERT_FILE=$certificates/ca.crt REGISTRY_AUTH_FILE=$work/auth.json

collect_registry() { env -u REGISTRY_AUTH_FILE docker-registry garbage-collect "$@" "$work/registry.yml"; }
