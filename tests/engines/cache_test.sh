#!/usr/bin/env bash
# Compilers' caches with the real ccache, on a base of the build host's own compiler: bits are equal without one, with a new one and with
# a full one, whatever was done to it; it is bounded, found again after a kill, and in no layer.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
chmod 755 "$work"

# A catalogue of one program of eight files; one of them is told the version, and each the target's flags.
mkdir -p recipes/base/compilers recipes/framework/program targets
cat >recipes/base/compilers/recipe.json <<'JSON'
{
  "description": "The build host's C compiler, without a linker or headers",
  "licenses": "GPL-3.0-or-later",
  "versions": {"1": {}},
  "methods": {"distro": {"rootfs": "rootfs.sh"}}
}
JSON
cat >recipes/base/compilers/rootfs.sh <<'SH'
#!/bin/sh -eu
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
(cd "$tree" && mkdir -p -m 755 bin dev etc opt proc run sys tmp var/tmp root usr/bin usr/lib/ccache)
# keep FILE: with all that the loader needs for it, at the same paths.
keep() {
  for file in "$1" $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | sort -u); do
    mkdir -p "$tree${file%/*}"
    cp -L "$file" "$tree$file"
  done
}
install -m 755 "$(command -v busybox)" "$tree/bin/busybox"
for applet in $(busybox --list); do [ "$applet" = busybox ] || ln -s busybox "$tree/bin/$applet"; done
keep "$(gcc -print-prog-name=cc1)"
keep /usr/bin/gcc
keep /usr/bin/as
keep /usr/include/stdc-predef.h
keep /usr/bin/ccache
ln -s ../../bin/ccache "$tree/usr/lib/ccache/gcc"
tar -C "$tree" --sort=name --mtime=@0 --numeric-owner --owner=0 --group=0 -cf "$KILN_OUTPUT" .
SH
cat >recipes/framework/program/recipe.json <<'JSON'
{
  "description": "Eight objects",
  "licenses": "Apache-2.0",
  "versions": {"1.1": {}, "1.0": {}},
  "methods": {
    "source": {
      "optimised": true,
      "script": "source.sh",
      "parameters": ["KILN_VERSION", "KILN_CPU_TARGET"],
      "cache": ["ccache"]
    }
  },
  "test": {"script": "smoke.sh"}
}
JSON
cat >recipes/framework/program/source.sh <<'SH'
#!/bin/sh -eu
[ -n "${CCACHE_DIR:-}" ] || export CCACHE_DISABLE=1
export PATH="/usr/lib/ccache:$PATH"
march=$(echo "$KILN_CPU_TARGET" | tr _ -)
mkdir -p /opt/program /tmp/build
cd /tmp/build
for number in 1 2 3 4 5 6 7 8; do
  echo "const char *made$number(void) { return __FILE__; } int number$number(int x) { return x * $number / 3; }" >"$number.c"
done
echo "const char *version(void) { return VERSION; }" >>1.c
for number in 1 2 3 4 5 6 7 8; do
  gcc -O2 "-march=$march" -g -DVERSION="\"$KILN_VERSION\"" -c "/tmp/build/$number.c" -o "/opt/program/$number.o"
done
rm -rf /tmp/build
SH
echo 'test -s /opt/program/8.o && echo "eight objects"' >recipes/framework/program/smoke.sh
echo '{"cpu": "x86_64"}' >targets/plain.json
echo '{"cpu": "x86_64_v2"}' >targets/newer.json
cat >matrix.json <<'JSON'
{
  "name": "cached",
  "axes": {
    "framework": ["program"], "version": ["1.0", "1.1"], "method": ["source"], "base": ["compilers@1"], "target": ["plain", "newer"]
  }
}
JSON
echo '{"formats": ["oci"], "cache": {"size": "64MiB"}}' >site.json
script=recipes/framework/program/source.sh

# build STATE WORDS…: of one cell.
build() {
  local state=$1
  shift
  expect 0 "$KILN" --state "$state" "${options[@]}" build -f matrix.json --format json "$@"
  equals "$(json 'sorted({image["verdict"] for image in it["images"]} - {"up to date"})')" "['built']"
}
options=()
# diff_ids STATE: of the layers of all images that were ever made for a version and target; the script's last lines are comments, so wrong
# bits would be a line more.
diff_ids() {
  "$KILN_PYTHON" - "$1" <<'PY'
import json, pathlib, sys
for layout in sorted(pathlib.Path(sys.argv[1], "images").glob("*/*")):
    read = lambda digest: json.loads((layout / "blobs" / digest.replace(":", "/")).read_text())
    index = json.loads((layout / "index.json").read_text())
    config = read(read(index["manifests"][0]["digest"])["config"]["digest"])
    print(layout.name.rpartition("-")[0], *config["rootfs"]["diff_ids"])
PY
}
same_bits() { equals "$(diff_ids with | sort -u)" "$(diff_ids without)"; }
# found STATE: what the step's logs say, sorted.
found() { sed -n 's/^kiln: ccache found \(.*\) files.*/\1/p' "$1"/logs/*.log | sort; }
anew() { echo "# $1" >>$script; } # another script, so other keys

# 1. No cache, a new one: the same bits, and the second version of a target has all files but one, and the second target none.
options=(--no-cache)
build without
equals "$(found without)" ''
equals "$(ls without/caches 2>/dev/null)" ''
options=()
build with version=1.0 target=plain
equals "$(found with)" '0 of 8'
build with version=1.1 target=plain
equals "$(found with)" '0 of 8
7 of 8'
build with -j 1 # side by side, both might compile the same
equals "$(found with)" '0 of 8
0 of 8
7 of 8
7 of 8'
same_bits
for log in without with; do grep -l 'objects' $log/logs/*.log >/dev/null || fail 'no test ran'; done

# 2. Not in a layer: neither what is kept nor where it was mounted.
for blob in with/store/sha256/*/*; do
  zstd -dcqf "$blob" 2>/dev/null | tar -tf - 2>/dev/null || true
done >names
grep -q '^opt/program/8.o$' names || grep -q 'opt/program/8.o' names || fail 'no layer was read'
lacks "$(grep -v '^\(\./\)\?tmp/\?$' names)" 'kiln/cache'
lacks "$(cat names)" 'ccache.conf'

# 3. A full one: all is found, and the bits are those without.
anew again
build with
equals "$(found with | grep -c '8 of 8')" 4
same_bits

# 4. Damage: whatever is in its files costs a compilation, and no bit.
uses=$(echo with/caches/ccache/*.uses)
folder=${uses%.uses}
damage() {
  find "$folder" -type f -name '*R' -print0 | "$KILN_PYTHON" -c '
import pathlib, sys
for number, name in enumerate(sorted(sys.stdin.read().split("\0")[:-1])):
    path = pathlib.Path(name)
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    if number % 4 == 0: data[len(data) // 2] ^= 1 << number % 8
    if number % 4 == 1: data = data[:-7]
    if number % 4 == 2: data = b""
    if number % 4 == 3: data[number % len(data)] ^= 0xFF
    path.write_bytes(data)'
  find "$folder" -type f -name stats -exec sh -c 'head -c 999 /dev/urandom >"$1"' sh {} \;
}
damage
anew damaged
echo 'prefix_command = /bin/false' >"$folder/ccache.conf" # whoever wrote to it says how compilers run: nobody listens
build with version=1.0 target=plain
equals "$(found with | grep -c '0 of 8')" 3
same_bits

# 5. Killed in the middle: what was compiled is found, and the next takes the folder again.
edit 's/^rm -rf/[ ! -e \/opt\/program\/8.o ] || sleep 6161 # kill\n&/' $script
"$KILN" --state with build -f matrix.json version=1.0 target=plain >killed.log 2>&1 &
killed=$!
in_the_middle() { compgen -G 'with/caches/ccache/*.uses' >/dev/null && pgrep -f 'sleep 6161' >/dev/null; }
until_true $killed killed.log in_the_middle
kill -KILL $killed
wait $killed 2>/dev/null || true
edit '/sleep 6161/d' $script
anew killed
build with version=1.0 target=plain
holds "$(found with)" '8 of 8'
same_bits

# 6. Bounded: what was used longest ago goes, whoever runs now keeps his.
mkdir -p with/caches/ccache/other with/caches/ccache/other.uses
head -c 70000000 /dev/urandom >with/caches/ccache/other/junk
touch -d '2 days ago' with/caches/ccache/other.uses
anew bounded
build with version=1.0 target=plain
[ ! -e with/caches/ccache/other ] || fail 'more than the site allows'
[ -d "$folder" ] || fail 'it went with the other'

# 7. A folder without room, and one that cannot be written to.
mkdir small
if mount -t tmpfs -o size=256k none small 2>/dev/null; then
  head -c 1000000 /dev/zero >small/full 2>/dev/null || true
  echo "{\"formats\": [\"oci\"], \"cache\": {\"folder\": \"$work/small\"}}" >site.json
  anew full
  build with version=1.0 target=plain
  mount -o remount,ro small
  anew read-only
  build with version=1.0 target=plain
  grep -q '^kiln: runs without the cache ccache' with/logs/*.log || fail 'the log does not name the cache'
  umount small
    same_bits
fi

# 8. `kiln gc`: what nobody used for long, and all.
find with/caches -name '*.uses' -exec touch -d '40 days ago' {} +
expect 0 "$KILN" --state with gc -v
holds "$out" 'ccache '
expect 0 "$KILN" --state with gc --delete
[ ! -e "$folder" ] || fail 'it stays'
expect 0 "$KILN" --state with gc --all --delete
[ ! -e with/caches ] || fail 'the caches stay'
echo 'caches: equal bits with and without'
