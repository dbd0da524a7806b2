#!/usr/bin/env bash
# ci/setup: quick when all is there, and one clear line with the right exit code when it cannot go on. dpkg-query is replaced where the
# machine must look bare; nothing is installed.
set -euo pipefail
work=$1
rm -rf "$work"
mkdir -p "$work/ci" "$work/bin"
cp "$KILN_SOURCE/ci/setup" "$KILN_SOURCE/ci/requirements.txt" "$work/ci/"
chmod -R a+rX "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect CODE TEXT COMMAND...: the exit code, and a last line of stderr that starts "setup:" and has TEXT.
expect() {
  local code=$1 text=$2 got=0
  shift 2
  "$@" >"$work/out" 2>"$work/err" || got=$?
  [[ $got == "$code" ]] || fail "exit code $got, not $code: $* ($(cat "$work/err"))"
  tail -n 1 "$work/err" | grep "^setup: .*$text" >/dev/null || fail "no '$text' in: $(cat "$work/err")"
  [[ ! -s $work/out ]] || fail "something on stdout: $(cat "$work/out")"
}

expect 2 'unknown argument --nonsense; usage: ci/setup' "$work/ci/setup" --nonsense

# All is there, in this very checkout: apt-get is not even asked.
printf '#!/bin/sh\necho asked >>%s\n' "$work/asked" >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
PATH=$work/bin:$PATH "$KILN_SOURCE/ci/setup" || fail "ci/setup fails where it has just succeeded"
[[ ! -e $work/asked ]] || fail "apt-get was asked though all is there"

# A bare machine: dpkg knows no package.
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
chmod +x "$work/bin/dpkg-query"
bare=(env "PATH=$work/bin:$PATH")

# apt-get cannot fetch.
cat >"$work/bin/apt-get" <<'APT'
#!/bin/sh
case "$*" in
  *update*) echo "W: Failed to fetch http://archive.example/InRelease  Temporary failure resolving" ;;
  *) echo "E: Unable to locate package g++"; exit 100 ;;
esac
APT
chmod +x "$work/bin/apt-get"
if ((EUID == 0)); then
  expect 6 'package sources cannot be reached: E: Unable to locate package g++' "${bare[@]}" "$work/ci/setup"
  rm -rf "$work/.cache"
  mkdir -p "$work/.cache"
  # A user without rights; the folder is made world-writable so that only the rights matter.
  chmod 777 "$work/.cache"
  if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$work/ci/setup"; then
    expect 5 'as root: apt-get install g++ cmake' \
      setpriv --reuid=65534 --regid=65534 --clear-groups env "PATH=$work/bin:/usr/bin:/bin" bash "$work/ci/setup"
  fi
fi
echo "ci/setup says what is wrong"
