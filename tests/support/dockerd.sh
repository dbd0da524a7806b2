# shellcheck shell=bash disable=SC2154 # $work is of script.sh
# For the tests of the engine `docker`, sourced behind script.sh: a real dockerd of the test's own, on its own socket and storage.

# Starts it and points DOCKER_HOST to it; at the test's end it is stopped.
start_dockerd() {
  mkdir docker-bin
  ln -s /usr/bin/docker docker-bin/docker # Debian's, before whatever else bears that name
  export PATH="$work/docker-bin:$PATH" DOCKER_HOST=unix://$work/docker.sock
  dockerd --data-root "$work/docker-data" --exec-root "$work/docker-exec" --host "$DOCKER_HOST" --pidfile "$work/docker.pid" \
    --iptables=false --ip6tables=false --bridge=none --storage-driver overlay2 >dockerd.log 2>&1 &
  dockerd=$!
  at_exit "kill $dockerd 2>/dev/null && wait $dockerd 2>/dev/null || true"
  for _ in $(seq 600); do
    if docker info >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  tail -20 dockerd.log
  fail 'dockerd does not come up'
}
