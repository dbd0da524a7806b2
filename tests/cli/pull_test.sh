#!/usr/bin/env bash
# Pulls from a registry that misbehaves: what is tried again and how often, what ends a pull, and that nothing of it stays.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
command -v skopeo >/dev/null || { echo 'SKIPPED: no skopeo here'; exit 77; }

serve() { # serve [PORT]
  rm -f port
  "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/bad_registry.py" "$work" "$@" &
  server=$!
  until [ -e port ]; do kill -0 "$server" && sleep 0.05; done
}
end() {
  kill "$server" 2>/dev/null || true
  unmount_all
}
trap end EXIT
serve
host=127.0.0.1:$(cat port)
cat >registries.conf <<CONF
[[registry]]
location = "$host"
insecure = true
CONF
export CONTAINERS_REGISTRIES_CONF=$work/registries.conf KILN_SITE=$work/site.json TMPDIR=$work/tmp
mkdir tmp
limits() { # limits WALL STALL RETRIES
  printf '{"pull": {"wall": "%s", "stall": "%s", "retries": %s}}\n' "$1" "$2" "$3" >site.json
}

# requests REPOSITORY WHAT: how often it was asked for.
requests() { grep -c "^GET /v2/$1/$2" requests || true; }
of_layer() { # the blob that was asked for most often
  grep "^GET /v2/$1/blobs/" requests | sort | uniq -c | sort -rn | awk 'NR == 1 {print $1}'
}
nothing_stays() {
  equals "$(ls -A tmp)" ''
  ! pgrep -f "^skopeo .*$host" || fail 'skopeo goes on'
}
pull() { # pull STATUS REPOSITORY [OPTION…]
  local status=$1 repository=$2
  shift 2
  : >requests
  expect "$status" "$KILN" "$@" inspect "docker://$host/$repository:latest"
  nothing_stays
}

# 1. What passes is tried again.
limits 60s 20s 2
pull 0 good
equals "$(requests good manifests/latest)" 1
equals "$err" ''
for repository in flaky-500-1 flaky-502-1 flaky-503-2; do
  pull 0 "$repository"
  equals "$(requests "$repository" manifests/latest)" $((1 + ${repository##*-}))
done
holds "$err" "pulling docker://$host/flaky-503-2:latest: 503 Service Unavailable; try 2 of 3 in "
holds "$err" '; try 3 of 3 in '
for how in reset cut; do
  pull 0 "$how-1"
  equals "$(of_layer "$how-1")" 2
done
holds "$err" 'unexpected EOF; try 2 of 3 in '
pull 0 soon-1
equals "$(requests soon-1 manifests/latest)" 2
holds "$err" '429 Too Many Requests; try 2 of 3 in 1.0 s'

# 2. What stays is not, and says how often it was tried.
pull 6 forbidden-403
equals "$(requests forbidden-403 manifests/latest)" 1
limits 60s 20s 1
pull 6 always-503
equals "$(requests always-503 manifests/latest)" 2
holds "$err" "error: cannot fetch docker://$host/always-503:latest: 503 Service Unavailable; tried 2 times in "
pull 6 later
equals "$(requests later manifests/latest)" 1
holds "$err" 'asks kiln to wait 36000 s (Retry-After), longer than the 300 s that kiln waits; tried once in '

# 3. A registry that says nothing, or no more, is not waited for; a byte a second is stopped by the whole limit.
limits 60s 1s 1
pull 6 silent
holds "$err" "error: cannot fetch docker://$host/silent:latest: no byte came for 1 s; tried 2 times in "
equals "$(requests silent manifests/latest)" 2
pull 6 stalled
holds "$err" "error: cannot fetch docker://$host/stalled:latest: no byte came for 1 s; tried 2 times in "
limits 3s 20s 5
pull 6 trickle --progress tty
holds "$err" "error: cannot fetch docker://$host/trickle:latest: not done after 3 s; tried once in "
holds "$err" $'\r\e[Kpulling '"docker://$host/trickle:latest: 0.0 MB, 0.0 MB/s"
holds "$err" $'\r\e[Kerror:'

# 4. Whoever asks for a digest, a document or a SIF is under the same limits.
limits 60s 1s 0
cp -r "$tiny" site
mkdir site/recipes/base/box
recipe() { # recipe REPOSITORY
  cat >site/recipes/base/box/recipe.json <<JSON
{"description": "a base", "licenses": "MIT", "versions": {"latest": {}}, "methods": {"hub": {"image": "$host/$1:{version}"}}}
JSON
}
cat >site/site.json <<'JSON'
{
  "name": "site",
  "axes": {
    "framework": ["hello"], "version": ["2.10"], "method": ["distro"], "library": ["none"],
    "base": ["box@latest"], "target": ["plain"]
  }
}
JSON
recipe silent
expect 6 "$KILN" lock -f site/site.json -n
holds "$err" "error: cannot ask for the manifest of $host/silent:latest: no byte came for 1 s; tried once in "
expect 6 "$KILN" sif "docker://$host/stalled:latest" -o x.sif
[ ! -e x.sif ] || fail 'a SIF of half an image'
recipe stalled
expect 6 "$KILN" build -f site/site.json
holds "$out$err" "cannot pull $host/stalled:latest: no byte came for 1 s; tried once in "
holds "$out" 'infrastructure'
equals "$(ls .kiln/tmp)" ''
nothing_stays
limits 60s 20s 1
recipe flaky-504-1
expect 1 "$KILN" build -f site/site.json # the base has nothing in it
lacks "$out$err" 'cannot pull'
holds "$(cat .kiln/logs/hello-*/01-*)" 'kiln: 504 Gateway Timeout; try 2 of 2 in '

# 5. Ctrl-C ends it at once, in the middle of a layer and in a wait.
limits 600s 600s 100
interrupted() { # interrupted REPOSITORY MARK FILE: as soon as FILE has MARK
  local status=0
  : >requests
  : >told.err
  "$KILN" inspect "docker://$host/$1:latest" >/dev/null 2>told.err &
  local told=$!
  until grep "$2" "$3" >/dev/null; do kill -0 "$told" && sleep 0.05; done
  kill -INT "$told"
  wait "$told" || status=$?
  equals "$status" 130
  nothing_stays
}
interrupted stalled 'stalled/blobs' requests
interrupted always-503 'try 3 of 101' told.err

# 6. After SIGKILL skopeo does not go on, and the next kiln removes what had come.
: >requests
"$KILN" inspect "docker://$host/stalled:latest" >/dev/null 2>&1 &
told=$!
until grep -q 'stalled/blobs' requests; do kill -0 "$told" && sleep 0.05; done
kill -KILL "$told"
wait "$told" || equals $? 137
no_skopeo() { ! pgrep -f "^skopeo .*$host" >/dev/null; }
soon no_skopeo
[ -n "$(ls -A tmp)" ] || fail 'nothing was left behind that could be removed'
limits 60s 20s 1
pull 0 good

# 7. A registry that is being restarted is waited for.
kill "$server"
wait "$server" || equals $? 143
pull 6 good
holds "$err" 'connection refused; try 2 of 2 in '
holds "$err" 'connection refused; tried 2 times in '
limits 60s 20s 5
"$KILN" inspect "docker://$host/good:latest" >told.out 2>told.err &
told=$!
until grep -q 'refused; try 3 of 6' told.err; do kill -0 "$told" && sleep 0.05; done
serve "${host##*:}"
wait "$told" || fail "not waited for: $(cat told.err)"
holds "$(cat told.out)" 'digest'
nothing_stays
echo 'pull: tried again, given up, ended, and nothing stays'
