#!/usr/bin/env bash
# Every engine makes the same layers, manifests and SIF files of the tiny catalogue; and what a user gets of an engine that is not there,
# crashes, says that it is done and has nothing, or never ends.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
matrix=tiny/tiny.json

digests() { # digests STATE: one line an image: its name, manifest and layers
  "$KILN_PYTHON" - "$1" <<'END'
import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/built/*.json")):
    record = json.load(open(path))
    digest = record["manifest"].split(":")[1]
    manifest = json.load(open(f"{sys.argv[1]}/store/sha256/{digest[:2]}/{digest}"))
    print(record["tag"], record["manifest"], *(layer["digest"] for layer in manifest["layers"]))
END
}

# shellcheck source=tests/support/dockerd.sh
. "$KILN_SOURCE/tests/support/dockerd.sh"
start_dockerd
engines=(buildah podman docker)

# 1. The same bits, by --engine, by the site file and by the environment; and a test that fails does so with each.
expect 0 "$KILN" build -f "$matrix" --state buildah
digests buildah >buildah.digests
[ "$(wc -l <buildah.digests)" = 7 ] || fail 'not seven images'
for engine in podman docker; do
  expect 0 "$KILN" build -f "$matrix" --state "$engine" --engine "$engine"
  digests "$engine" >"$engine.digests"
  diff buildah.digests "$engine.digests" || fail "the images of $engine have other bits"
  expect 0 "$KILN" plan -f "$matrix" --state "$engine" --format json
  equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'built'}" # the engine is in no key
done
ls podman/engine/root/libpod >/dev/null || fail 'it was not podman'
docker image inspect localhost/kiln:nothing >/dev/null || fail 'it was not docker'
# Each goes on where another was: its store is a cache.
echo 'echo more >>/opt/kiln/hello/more' >>tiny/recipes/framework/hello/distro.sh
next=([0]=podman [1]=docker [2]=buildah)
for i in 0 1 2; do
  echo "{\"engine\": \"${next[i]}\"}" >"site-$i.json"
  expect 0 "$KILN" build -f "$matrix" --state "${engines[i]}" --site "site-$i.json"
  digests "${engines[i]}" >"${engines[i]}.digests"
  diff buildah.digests "${engines[i]}.digests" || fail 'the bits depend on who went on'
done
cp -r tiny failing
echo 'echo this test fails; exit 3' >failing/recipes/framework/hello/smoke.sh
for engine in "${engines[@]}"; do
  expect 1 env KILN_ENGINE="$engine" "$KILN" build -f failing/tiny.json --state "$engine" version=2.1
  holds "$out$err" 'exit status 3'
  grep -qs 'this test fails' "$engine"/logs/*.log || fail 'the log has not what the test printed'
done

# 2. What a step sees: its own processes and none of the machine's, no network in a test, and the recipe's files read-only.
cp -r tiny seeing
cat >seeing/recipes/framework/hello/smoke.sh <<'SH'
#!/bin/sh -eu
if grep -l '314159[2]' /proc/[0-9]*/cmdline 2>/dev/null; then echo "sees processes of the machine"; exit 1; fi
[ "$(grep -c ':' /proc/net/dev)" = 1 ] || { echo "has a network"; exit 1; }
if touch here 2>/dev/null; then echo "can write into the recipe's files"; exit 1; fi
[ "$(id -u)" = 0 ] || exit 1
echo "sees what it has to"
SH
sleep 3141592 &
at_exit "kill $! 2>/dev/null"
until grep -qs '314159[2]' /proc/[0-9]*/cmdline; do sleep 0.1; done # there is something to be seen once the shell's child has become it
for engine in "${engines[@]}"; do
  expect 0 "$KILN" build -f seeing/tiny.json --state "$engine" --engine "$engine" version=2.1 library=none
done

# 3. Nothing is left running or lying about, and garbage goes by the same engine.
equals "$(docker ps --all --quiet | wc -l)" 0
rm -r tiny/recipes/framework/hello
cp -r "$tiny/recipes/framework/hello" tiny/recipes/framework/
expect 0 "$KILN" gc --state podman --engine podman --delete
for layer in podman/engine/layers/*; do
  compgen -G "podman/steps/$(basename "${layer%-*}")*.json" >/dev/null || fail "a layer of no step: $layer"
done

# 4. An engine that is not there, not known, too old in the site's eyes.
mkdir bin
for program in $(compgen -c | grep -vx podman | grep -v '[][/]' | sort -u); do
  path=$(type -P "$program") || continue
  ln -sf "$path" "bin/$program"
done 2>/dev/null
expect 5 env PATH="$work/bin" "$KILN" build -f "$matrix" --state absent --engine podman
holds "$err" "the engine 'podman' is not installed or not in PATH"
holds "$err" "Debian's package podman"
[ ! -e absent/steps ] || [ -z "$(ls absent/steps)" ] || fail 'steps were run without an engine'
expect 2 "$KILN" build -f "$matrix" --engine pdoman
echo '{"engine": "pdoman"}' >wrong.json
expect 3 "$KILN" build -f "$matrix" --site wrong.json
holds "$err" "wrong.json:1:12: error:"
expect 0 "$KILN" doctor --engine podman
holds "$out" 'runs the steps: an OCI runtime'
expect 0 "$KILN" doctor --engine docker
holds "$(grep "^docker's daemon" <<<"$out")" overlay2
expect 5 env DOCKER_HOST="unix://$work/nobody.sock" "$KILN" doctor --engine docker
holds "$(grep "^docker's daemon" <<<"$out")" 'MISSING'
holds "$out" "start dockerd, or name its socket in \$DOCKER_HOST"

# 5. Engines with faults, in front of the real one: whichever it is, the user gets a clear word, an exit code, and an image the next time.
# An engine that runs scripts by its program has them there, docker in its daemon.
mark=$((1000000 + $$)) # of what this run leaves
faulty() { # faulty FAULT ENGINE: a folder for PATH in which the engine has it; its environment is kiln's, so both are written into it
  mkdir -p "fault-$1-$2"
  { printf '#!/bin/bash\nfault=%s\nreal=%q\nmark=%s\n' "$1" "$(type -P "$2")" "$mark"; cat fault.sh; } >"fault-$1-$2/$2"
  chmod +x "fault-$1-$2/$2"
  echo "$work/fault-$1-$2"
}
faulty_daemon() { # faulty_daemon FAULT: as $daemon
  daemon=unix://$work/faulty-$1.sock
  "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/faulty_docker.py" "${DOCKER_HOST#unix://}" "${daemon#unix://}" "$1" >faulty.out 2>&1 &
  at_exit "kill $! 2>/dev/null || true"
  until [ -S "${daemon#unix://}" ]; do sleep 0.1; done
}
cat >fault.sh <<'SH'
case " $* " in
  *" run "* | *" exec --writable "*)
    case $fault in
      crash) kill -SEGV $$ ;;
      nothing) exit 0 ;;
      hang) trap '' TERM; while :; do sleep 1; done ;;
      session) setsid bash -c "trap '' TERM; while :; do sleep $mark; done" & trap '' TERM; while :; do sleep 1; done ;;
      flood) yes 'all work and no play' ;;
      full) echo 'Error: write /var/tmp/x: no space left on device' >&2; exit 125 ;;
    esac
    ;;
esac
exec "$real" "$@"
SH
# shellcheck source=tests/support/apptainer.sh
. "$KILN_SOURCE/tests/support/apptainer.sh"
if apptainer_here "$work/apptainer-bin"; then
  PATH=$work/apptainer-bin:$PATH
  engines+=(apptainer)
fi
for engine in "${engines[@]}"; do
  for fault in crash hang session flood full nothing; do
    state=$work/state-$engine-$fault
    case $fault in hang | session) silence=3s ;; *) silence=10m ;; esac
    echo "{\"limits\": {\"silence\": \"$silence\", \"log\": \"100KiB\", \"retries\": 0}}" >limits.json
    status=0
    path=$PATH daemon=$DOCKER_HOST
    if [ "$engine" = docker ]; then faulty_daemon $fault; else path=$(faulty $fault "$engine"):$PATH; fi
    DOCKER_HOST=$daemon PATH=$path "$KILN" build -f "$matrix" --state "$state" --engine "$engine" --site limits.json version=2.1 library=none \
      >fault.out 2>fault.err || status=$?
    case $engine-$fault in
      docker-crash) said='daemon does not answer' ;;
      docker-flood) said='answer of more than' ;;
      *-nothing) said='reports that the script is done, but has not started it' ;;
      *-crash) said='signal 11|SIGSEGV|exit status' ;;
      *-hang | *-session) said='silence' ;;
      *-flood) said='log|KiB|output' ;;
      *-full) said='no space left on device|exit status 125' ;;
    esac
    [ "$status" != 0 ] || { cat fault.out fault.err; fail "$engine with $fault: kiln says that all is well"; }
    grep -qE "$said" fault.out fault.err || { cat fault.out fault.err; fail "$engine with $fault: nothing is said of it"; }
    ! pgrep -f "sleep $mark" || fail "$engine with $fault: what it started is still there"
    [ "$engine" != docker ] || [ -z "$(docker ps --quiet)" ] || fail "docker with $fault: a container still runs"
    [ -z "$(ls "$state/built" 2>/dev/null)" ] || fail "$engine with $fault: there is an image"
  done
  expect 0 "$KILN" build -f "$matrix" --state "$state" --engine "$engine" version=2.1 library=none
done
echo 'engines: ok'
