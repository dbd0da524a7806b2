#!/usr/bin/env bash
# kiln serve: the real program, asked by curl, and by bytes that no client sends (serve_raw.py).
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/serve.sh
. "$KILN_SOURCE/tests/support/serve.sh"
raw() { "$KILN_PYTHON" -B "$KILN_SOURCE/tests/cli/serve_raw.py" "$port" "$@" || fail "$*"; }

# finish: asks it to end, and it must, in order.
finish() {
  kill "$server"
  local status=0
  wait "$server" || status=$?
  equals "$status" 0
}
# ask STATUS TARGET [OPTION…]: the answer is in $out.
ask() {
  local wanted=$1 target=$2
  shift 2
  equals "$(curl -sS -o answer -D headers -w '%{http_code}' "$@" "http://127.0.0.1:$port$target")" "$wanted"
  out=$(cat answer)
}

one_mapping
expect 0 "$KILN" serve token --tokens tokens --name ci
token=$out
lacks "$(cat tokens)" "$token"
expect 0 "$KILN" serve token --tokens tokens --name second
equals "$(wc -l <tokens)" 2

# 1. What it answers is what the command line prints, byte for byte.
start_server --tokens tokens
ask 200 /v1/select --json @question.json
expect 0 "$KILN" --state state select --dsl question.json --host any --json
cmp answer .out
ask 200 '/v1/explain?host=zen4,nvidia:sm_90' --json @question.json
expect 0 "$KILN" --state state select --dsl question.json --host zen4,nvidia:sm_90 --explain
cmp answer .out
ask 404 '/v1/select?host=zen4' --json @question.json
json 'it.pop("error")["message"]' | grep -x 'no image matches' >/dev/null
"$KILN_PYTHON" -c 'import json; it = json.load(open("answer")); del it["error"]; print(json.dumps(it, indent=2, sort_keys=True, ensure_ascii=False))' >missed
expect 4 "$KILN" --state state select --dsl question.json --host zen4 --json
cmp missed .out
ask 200 /v1/snapshots
expect 0 "$KILN" --state state index snapshots --format json
cmp answer .out
ask 200 /container_mappings
expect 0 "$KILN" --state state index export --mappings
cmp answer .out
ask 200 /get_image --json @question.json
json 'it["application"]["container_runtime"]' | grep -x 'docker://modakopt/modak:tensorflow-2.1-gpu-src' >/dev/null

# 2. A mapping comes in by POST, as a snapshot of its own, and while somebody else writes, not now.
new='{"opt_dsl_code": "mpi", "app_name": "mpich", "container_name": "ethcscs/mpich:3.1.4"}'
ask 401 /container_mappings --json "$new"
holds "$(cat headers)" 'WWW-Authenticate: Bearer'
flock state/lock sh -c ': >held; until [ -e enough ]; do sleep 0.1; done' &
holder=$!
until [ -e held ]; do sleep 0.1; done
ask 503 /container_mappings --json "$new" -H "Authorization: Bearer $token"
holds "$(cat headers)" 'Retry-After: '
ask 200 /v1/select --json @question.json
: >enough && wait "$holder"
ask 201 /container_mappings --json "$new" -H "Authorization: Bearer $token"
holds "$(cat headers)" 'Kiln-Snapshot: 2'
expect 0 "$KILN" --state state index show mpi
holds "$out" ethcscs/mpich

# 3. A snapshot that another program made is in the next answer.
sed 's/tf-2.1/other/; s/tensorflow"/mxnet"/' mappings.json >more.json
etag=$(curl -sSI "http://127.0.0.1:$port/v1/images" | tr -d '\r' | sed -n 's/^ETag: //p')
ask 304 /v1/images -H "If-None-Match: $etag"
expect 0 "$KILN" --state state index import more.json
ask 200 /v1/images -H "If-None-Match: $etag"
equals "$(json 'it["snapshot"], it["total"]')" '3 3'

# 4. No request is understood in two ways, and none opens a file.
raw smuggling
raw targets
raw bodies
raw tokens "$token"
for host in /etc/passwd ../tokens tokens question.json; do
  ask 400 "/v1/select?host=$host" --json @question.json
  lacks "$out" sha256
done

# 5. SIGHUP reads settings again while it is asked, and no request is lost; what is wrong leaves them.
"$KILN_PYTHON" - "$port" <<'PY' &
import http.client, os, sys, time
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
end = time.monotonic() + 120
count = 0
while time.monotonic() < end and not os.path.exists("reloaded"):
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200
    count += 1
    if count == 10:
        open("asking", "w").close()
assert count >= 10, count
PY
asker=$!
soon [ -e asking ]
known() { curl -sS "http://127.0.0.1:$port/metrics" | sed -n 's/^kiln_tokens //p'; }
equals "$(known)" 2
head -n 1 tokens >one && cat one >tokens
kill -HUP "$server"
knows_one() { [ "$(known)" = 1 ]; }
soon knows_one
echo nonsense >tokens
kill -HUP "$server"
soon grep -q 'tokens:1:1: warning: expected `sha256:' serve.err
equals "$(known)" 1
: >reloaded
wait "$asker" || fail 'a request was lost'

# 6. It ends in order, and what was asked is counted.
finish
expect 0 "$KILN" --state state index demand --format json
equals "$(json 'sum(it["count"] for it in it) > 3, {it["outcome"] for it in it} == {"answered", "missed", "second best"}')" 'True True'

# 7. Who is slow is cut, and no address has all connections.
cat one >tokens
start_server --tokens tokens --request-time 2
raw slow
finish
start_server --tokens tokens --request-time 120 --per-address 20
raw crowd
finish

# 8. A Unix socket, and a service manager that is told.
"$KILN_PYTHON" - "$KILN" <<'PY'
import os, signal, socket, subprocess, sys
told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
told.bind("notify")
told.settimeout(60)
server = subprocess.Popen([sys.argv[1], "--state", "state", "serve", "--listen", "unix:socket"], stderr=subprocess.DEVNULL,
                          env=dict(os.environ, NOTIFY_SOCKET=os.path.abspath("notify")))
assert told.recv(100) == b"READY=1"
subprocess.run(["curl", "-sSf", "--unix-socket", "socket", "http://x/healthz"], check=True, stdout=subprocess.DEVNULL)
server.send_signal(signal.SIGHUP)
reloading = told.recv(100)
assert reloading.startswith(b"RELOADING=1\nMONOTONIC_USEC="), reloading
assert told.recv(100) == b"READY=1"
server.terminate()
assert told.recv(100) == b"STOPPING=1"
assert server.wait(60) == 0
assert not os.path.exists("socket")
PY

# 9. A socket that systemd holds: what comes while nobody serves waits for the next.
"$KILN_PYTHON" - "$KILN" <<'PY'
import http.client, os, socket, subprocess, sys
held = socket.socket()
held.bind(("127.0.0.1", 0))
held.listen(10)
command = 'exec 3<&"$1"; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" --state state serve --listen systemd'
for _ in range(2):
    waiting = http.client.HTTPConnection("127.0.0.1", held.getsockname()[1], timeout=60)
    waiting.request("GET", "/healthz")
    server = subprocess.Popen(["sh", "-c", command, sys.argv[1], str(held.fileno())], pass_fds=[held.fileno()],
                              stderr=subprocess.DEVNULL)
    assert waiting.getresponse().status == 200
    server.terminate()
    assert server.wait(60) == 0
PY

# 10. What cannot be is said.
expect 2 "$KILN" --state state serve --listen localhost:80
holds "$err" "invalid listen address 'localhost:80'"
expect 3 "$KILN" --state state serve --tokens none
holds "$err" "there is no file 'none'"
expect 2 "$KILN" serve token --tokens tokens --name 'a b'

# 11. Its service may do little (tenths of systemd-analyze's exposure).
if command -v systemd-analyze >/dev/null; then
  expect 0 systemd-analyze security --offline=true --threshold=4 "$KILN_SOURCE/ci/systemd/kiln-serve.service"
fi
