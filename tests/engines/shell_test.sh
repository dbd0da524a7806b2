#!/usr/bin/env bash
# `kiln shell` with the real buildah: what a step that failed would have seen, from a pipe and on a terminal; and that nothing of it is kept.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
echo '{"secrets": {"token": {"environment": "SITE_TOKEN"}}, "pass_environment": ["http_proxy"]}' >site.json
export SITE_TOKEN=the-token http_proxy=http://proxy.invalid:3128
edit 's/"script": "distro.sh",/& "files": ["list.txt"], "secrets": ["token"],/' tiny/recipes/compiler/turbo/recipe.json
echo 'a file of the recipe' >tiny/recipes/compiler/turbo/list.txt
echo 'touch /opt/kiln/half; exit 3' >>tiny/recipes/compiler/turbo/distro.sh
expect 1 "$KILN" build -f "$matrix" version=2.10 method=distro library=none --format json
equals "$(json 'sorted(image["verdict"] for image in it["images"])')" "['built', 'failed']"

enter() { # enter WORDS…: `kiln shell` with the commands on stdin
  "$KILN" shell -f "$matrix" "$@"
}
what_is_there() {
  find .kiln -path '.kiln/engine*' -prune -o -type f ! -name 'lock' ! -name '*.lock' -printf '%P %s %T@\n' | sort
}
what_is_there >before

# 1. Where the failed step runs: its parent's files, its own, its variables, its secrets, the site's configuration.
cat >look.sh <<'END'
pwd
cat list.txt
echo "version $KILN_VERSION, secret $(cat "$KILN_SECRETS/token"), proxy $http_proxy"
/opt/kiln/hello/bin/hello
ls /opt/kiln
sh -eu ./distro.sh || echo "distro.sh ended with $?"
ls /opt/kiln
touch /opt/kiln/mine && echo changed >/opt/kiln/hello/version
tty
exit 9
END
expect 9 enter library=none version=2.10 method=distro compiler=turbo --failed <look.sh
equals "$out" "/run/kiln/compiler-turbo
a file of the recipe
version 1.0, secret the-token, proxy http://proxy.invalid:3128
hello 2.10: it's \"\$HOME\" & \`more\`
hello
distro.sh ended with 3
half
hello
turbo
not a tty"
holds "$err" 'where turbo 1.0 (distro) runs'
holds "$err" 'Nothing done here is kept.'

# 2. By a component's name, by a key, after a base; in the image itself, with its environment and without a step's files.
expect 0 enter library=none version=2.10 method=distro compiler=turbo --step turbo <<<'cat list.txt; ls /opt/kiln'
equals "$out" "a file of the recipe
hello"
key=$(basename .kiln/failed/*.json .json)
expect 0 enter library=none version=2.10 method=distro compiler=turbo --step "${key:0:8}" <<<'ls'
equals "$out" "distro.sh
list.txt"
expect 0 enter library=none version=2.10 method=distro compiler=turbo --step busybox <<<'ls /opt; pwd'
equals "$out" /
# shellcheck disable=SC2016  # the shell inside is to expand it
expect 0 enter library=none version=2.10 method=distro compiler=none <<<'hello=$HELLO_HOME/bin/hello; $hello; pwd; ls /run/kiln | grep -c turbo || true'
equals "$out" "hello 2.10: it's \"\$HOME\" & \`more\`
/
0"

# 3. A test has no network, as when it runs.
expect 0 enter library=none version=2.10 method=distro compiler=none --step 'test hello 2.10 (distro)' <<<'ip -o link | wc -l; sh -eu smoke.sh'
equals "$out" "1
hello 2.10: it's \"\$HOME\" & \`more\`"

# 4. What cannot be looked into.
expect 2 enter version=2.10 method=distro library=none </dev/null
holds "$err" 'a shell is opened in one image, and these are 2'
expect 2 enter library=none version=2.10 method=distro compiler=turbo </dev/null
holds "$err" 'turbo 1.0 (distro) is not done'
expect 2 enter library=none version=2.1 compiler=none </dev/null
holds "$err" 'hello 2.1 (distro) is not done'
expect 4 enter library=none version=2.10 method=distro compiler=none --failed </dev/null
holds "$err" 'no step of hello:2.10-distro-x86_64-busybox1.35 failed'
expect 4 enter library=none version=2.10 method=distro compiler=none --step helo </dev/null
holds "$err" "did you mean 'hello'?"
expect 2 enter library=none version=2.10 method=distro compiler=none --step hello --failed </dev/null

# 5. On a terminal: Ctrl-C is for what runs inside, and the shell goes on.
"$KILN_PYTHON" - "$KILN" shell -f "$matrix" library=none version=2.10 method=distro compiler=none <<'END'
import os, pty, select, sys, time

def read_until(fd, word, limit=60):
    seen, end = b"", time.monotonic() + limit
    while word not in seen:
        assert time.monotonic() < end, (word, seen)
        if select.select([fd], [], [], 1)[0]:
            seen += os.read(fd, 4096)
    return seen

pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
read_until(fd, b"is kept.")
os.write(fd, b"tty && echo is-$((1+1))-tty\n")
read_until(fd, b"is-2-tty")
os.write(fd, b"echo sleep-$((1+1)); sleep 1000\n")
read_until(fd, b"sleep-2")
time.sleep(0.5)
os.write(fd, b"\x03")
os.write(fd, b"echo woke-$((1+1)); false; exit\n")
read_until(fd, b"woke-2")
_, status = os.waitpid(pid, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
END

# 6. Nothing is kept: no file of the state folder is another one, and no container is left.
no_container() {
  equals "$(buildah --storage-driver overlay --root .kiln/engine/root --runroot .kiln/engine/run containers --quiet)" ''
}
what_is_there >after
diff before after >changed || { cat changed && fail 'the shell left something'; }
no_container

# 7. Told to end, it ends, and what ran inside with it.
mkfifo stdin
"$KILN" shell -f "$matrix" library=none version=2.10 method=distro compiler=none <stdin >ended.out 2>ended.err &
shell=$!
exec 8>stdin
echo 'echo ready; sleep 5432' >&8
until grep -q ready ended.out; do sleep 0.1; done
kill -TERM $shell
status=0
wait $shell || status=$?
exec 8>&-
equals "$status" 130
if pgrep -f 'sleep 5432'; then fail 'what ran inside goes on'; fi
expect 0 enter library=none version=2.10 method=distro compiler=none <<<'echo again' # starts with a store of its own
no_container

# 8. The build goes on from where it was.
cp "$tiny/recipes/compiler/turbo/distro.sh" tiny/recipes/compiler/turbo/
expect 0 "$KILN" build -f "$matrix" version=2.10 method=distro library=none
# shellcheck disable=SC2016
expect 0 enter library=none version=2.10 method=distro compiler=turbo <<<'cat /opt/kiln/hello/version; ls /opt/kiln; echo "$HELLO_TURBO"'
equals "$out" "2.10
hello
turbo
on"
echo 'shell: seen, and nothing kept'
