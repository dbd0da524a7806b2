# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# A real registry, on the loopback interface: sourced after script.sh. $host is its name, in $work/registry lies what it has;
# start_registry and stop_registry (or kill_registry, without a word of warning) may be repeated, and it ends with the script.
command -v docker-registry >/dev/null || { echo 'SKIPPED: no docker-registry here'; exit 77; }

registry_address=${registry_address:-127.0.0.1} # second_machine.sh has another
port=$(free_ports 1 "$registry_address")
host=$registry_address:$port
cat >registry.yml <<YML
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "$host"}
YML
# A registry without TLS is named in registries.conf: kiln has no option of its own for that.
cat >registries.conf <<CONF
unqualified-search-registries = []
[[registry]]
location = "$host"
insecure = true
CONF
export CONTAINERS_REGISTRIES_CONF=$work/registries.conf

registry=
start_registry() {
  # It takes each variable REGISTRY_… for a part of its configuration. It ends with the script, also when that is killed.
  setpriv --pdeathsig KILL env -u REGISTRY_AUTH_FILE docker-registry serve "$work/registry.yml" >>"$work/registry.log" 2>&1 &
  registry=$!
  for _ in $(seq 600); do
    "$KILN_PYTHON" -c "import socket; socket.create_connection(('$registry_address', $port), 1)" 2>/dev/null && return
    kill -0 "$registry" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/registry.log"
  fail 'the registry does not start'
}
stop_registry() {
  kill "${1:--TERM}" "$registry"
  wait "$registry" 2>/dev/null || true
  registry=
}
kill_registry() { stop_registry -KILL; }
end_registry() { [ -z "$registry" ] || kill "$registry" 2>/dev/null || true; }
at_exit end_registry
