#!/usr/bin/env bash
# Memory and tries of steps, with the real buildah: a step over its limit gets twice as much, and at once the next time; a source
# that cannot be reached is asked again; both are in log, failure record and history; two heavy steps do not run side by side.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/gate.sh
. "$KILN_SOURCE/tests/support/gate.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
script=tiny/recipes/framework/hello/distro.sh
cell=(version=2.1 library=none)
take() { echo "dd if=/dev/zero of=/dev/null bs=${1}M count=30" >>"$script"; }

# 1. Too little memory: another try, alone, with twice as much.
expect 0 "$KILN" doctor
grep -E '^memory of steps +(cgroup v[12]|by watching)' <<<"$out" >/dev/null || fail "$out"
echo '{"limits": {"memory": "100MiB", "retries": 1}}' >site.json
take 130
expect 0 "$KILN" build -f "$matrix" "${cell[@]}"
said='out of memory: it needs more than its limit of 100 MiB; try 2 of 2, alone, with at most 200 MiB of memory'
grep -rhF "kiln: $said" .kiln/logs >/dev/null || fail "no log says so: $(cat .kiln/logs/*.log)"
equals "$(grep -c '"end":"out of memory"' .kiln/history.jsonl)" 1
out=$(grep '"end":"done".*"component":"framework/hello".*"kind":"run"\|"component":"framework/hello","end":"done".*"kind":"run"' .kiln/history.jsonl)
equals "$(json '130 << 20 < it["memory"]["peak"] < 200 << 20 and it["memory"]["by"] != "none"')" True
holds "$(cat .kiln/history.jsonl)" '"kind":"rootfs"'

# 2. The next time it has what it needed at once.
rm -r .kiln/steps .kiln/built
expect 0 "$KILN" build -f "$matrix" "${cell[@]}"
equals "$(grep -c '"end":"out of memory"' .kiln/history.jsonl)" 1

# And how long it takes is said, from what it took.
holds "$err" ', give or take '

# 3. What no try helps is said with all of them.
take 900
expect 1 "$KILN" build -f "$matrix" "${cell[@]}"
holds "$err" 'out of memory: it needs more than its limit of'
holds "$err" '; tried 2 times'
holds "$(cat .kiln/failed/*.json)" '"tries"'

# 4. A source that cannot be reached: asked again after a while. A script that fails is not.
rm site.json
cp "$tiny/recipes/framework/hello/distro.sh" "$script"
echo 'echo "curl: (6) Could not resolve host: example.org"; exit 6' >>"$script"
echo '{"limits": {"retries": 1}}' >site.json
expect 6 "$KILN" build -f "$matrix" "${cell[@]}" --progress json
holds "$err" 'a package source could not be reached; try 2 of 2 in'
holds "$err" 'a package source could not be reached; tried 2 times'
edit "\$s/.*/echo broken; exit 6/" "$script"
lines=$(wc -l <.kiln/history.jsonl)
expect 1 "$KILN" build -f "$matrix" "${cell[@]}"
equals "$(wc -l <.kiln/history.jsonl)" $((lines + 1))
lacks "$err" 'tried'

# 5. Two steps that together need more than the machine has: one waits, and says for what.
cp "$tiny/recipes/framework/hello/distro.sh" "$script"
gated "$script"
total=$(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) * 1024))
printf '{"key":"x","kind":"run","component":"framework/hello","time":1,"end":"done","seconds":1,"memory":{"peak":%d,"by":"processes"}}\n' $((total / 2)) >.kiln/history.jsonl
cell=(version=2.10 method=distro compiler=none)
start .kiln -j 2 --progress json
until_true "$build" build.err grep -q '"state":"waiting".*"what":"needs ' build.err
open_gate
ended 0
[ -z "$(find .kiln/memory -type f ! -name turn)" ] || fail "shares are left: $(find .kiln/memory)"
