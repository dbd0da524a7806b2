#!/usr/bin/env bash
# Completions, asked as the shells ask and typed into real interactive shells.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
mkdir -p bin project && ln -s "$KILN" bin/kiln
export PATH=$work/bin:$PATH
cp -r "$tiny" project/tiny
echo '[{"opt_dsl_code": "a", "app_name": "tensorflow", "container_name": "tensorflow/tensorflow:2.1.0"}]' >project/mapping.json
cd project
expect 0 kiln index import mapping.json

offers() { # offers WORD ARGUMENTS…: what __complete says holds the word
  local word=$1
  shift
  expect 0 kiln __complete "$@"
  cut -f 1 <<<"$out" | grep -xF -e "$word" >/dev/null || fail "no '$word' for: kiln $* ($out)"
}
refuses() {
  local word=$1
  shift
  expect 0 kiln __complete "$@"
  if cut -f 1 <<<"$out" | grep -xF -e "$word" >/dev/null; then fail "'$word' for: kiln $*"; fi
}
offers plan p
refuses plan x
offers list index ''
refuses plan index ''
offers github plan --format ''
offers --format=gitlab plan --format=gi
offers --exclude plan --e
refuses --explain plan --explain --e
offers --state plan --st
offers files plan -f ''
offers folders --state ''
offers none plan --format ''
offers hello-2.1-distro-plain-busybox_1.35 plan -f tiny/tiny.json h
offers compiler= plan -f tiny/tiny.json c
offers compiler=turbo plan -f tiny/tiny.json compiler=
offers version=2.1 build --file=tiny/tiny.json --exclude version=
offers count bench -f tiny/tiny.json --workload ''
offers docker://tensorflow/tensorflow:2.1.0 index show d
offers tensorflow select t
offers list man index ''
offers none plan -f absent.json h
expect 0 env KILN_FILE=tiny/tiny.json kiln __complete build hello-2.1-d
holds "$out" 'hello-2.1-distro-fast-plain-busybox_1.35'
expect 0 kiln __complete
holds "$out" 'select'

# Types keys into a real shell on a terminal of its own and looks for what it answers.
cat >../type.py <<'PYTHON'
import os, pty, select, sys, time

shell, prompt, keys, *wanted = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="vt100", COLUMNS="200", LINES="50")
    words = shell.split()
    os.execvp(words[0], words)
seen = ""

def read_until(text, seconds):
    global seen
    end = time.monotonic() + seconds
    while text not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
    return text in seen

if not read_until(prompt, 60):
    sys.exit(f"{shell}: no prompt in {seen!r}")
seen = ""
os.write(terminal, keys.encode().decode("unicode_escape").encode())
for text in wanted:
    if not read_until(text, 60):
        sys.exit(f"{shell}: typed {keys!r}, no {text!r} in {seen!r}")
os.kill(pid, 9)
PYTHON
kiln completion bash >../kiln.bash
bash -n ../kiln.bash
printf 'PS1="ready> "\nbind "set bell-style none" 2>/dev/null\nbind "set show-all-if-ambiguous on"\nsource %s\n' "$work/kiln.bash" >../rc.bash
in_bash() { "$KILN_PYTHON" ../type.py "bash --noprofile --rcfile $work/rc.bash -i" 'ready> ' "$@" || fail 'bash'; }
in_bash 'kiln pla\t--form\tgith\t' 'plan --format github'
in_bash 'kiln index r\t' recover rollback
in_bash 'kiln plan -f tiny/ti\tcompiler=tu\t-' 'tiny/tiny.json compiler=turbo'
in_bash 'kiln plan --file=tiny/ti\t' 'tiny/tiny.json'
in_bash 'kiln index show docker://tensor\t' 'docker://tensorflow/tensorflow:2.1.0'

if command -v zsh >/dev/null; then
  kiln completion zsh >../_kiln
  zsh -n ../_kiln
  mkdir -p ../zdot
  printf 'PS1="ready> "\nfpath+=(%s)\nautoload -U compinit && compinit -u -D\nunsetopt beep\n' "$work" >../zdot/.zshrc
  in_zsh() { "$KILN_PYTHON" ../type.py "env ZDOTDIR=$work/zdot zsh -i" 'ready> ' "$@" || fail 'zsh'; }
  in_zsh 'kiln pla\t' 'kiln plan'
  in_zsh 'kiln index r\t' recover rollback
  in_zsh 'kiln plan -f tiny/tiny.json compiler=tu\t' turbo
else
  echo 'no zsh here'
fi
if command -v fish >/dev/null; then
  kiln completion fish >../kiln.fish
  fish --no-config --no-execute ../kiln.fish
  in_fish() { # in_fish LINE WORD…: fish completes a line by itself
    local line=$1 word answer
    shift
    answer=$(fish --no-config -c "source ../kiln.fish; complete -C '$line'")
    for word in "$@"; do holds "$answer" "$word"; done
  }
  in_fish 'kiln pla' plan
  in_fish 'kiln index r' recover rollback
  in_fish 'kiln plan -f tiny/tiny.json compiler=' compiler=turbo
  in_fish 'kiln plan -f tiny/ti' tiny/tiny.json
else
  echo 'no fish here'
fi
echo "completion: in every shell that is here"
