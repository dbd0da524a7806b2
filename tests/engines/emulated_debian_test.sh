#!/usr/bin/env bash
# A real Debian for Arm and for POWER on another machine: mmdebstrap, apt-get and Python run in QEMU, the tests prove by which processor, the
# record says that it was emulated, and one name stands for both images.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/foreign.sh
. "$KILN_SOURCE/tests/support/foreign.sh"
case $(uname -m) in x86_64) ;; *) echo 'emulated_debian: x86_64 only' && exit 77 ;; esac
in_own_mounts "$KILN_SOURCE/tests/engines/emulated_debian_test.sh" "$@"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
register aarch64 ppc64le
emulator=$(qemu-aarch64-static --version | sed -n '1s/.*version \([^ ]*\).*/\1/p')

# The release alone: of its updates a mirror that few ask for POWER may have the one half and not the other.
mkdir sources
echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main' >sources/debian.list
mount --bind sources /etc/apt/sources.list.d
if [ -s /etc/apt/sources.list ]; then mount --bind /dev/null /etc/apt/sources.list; fi
for architecture in arm64 ppc64el; do
  # Not a package: whether the mirror has that architecture at all.
  curl -fsSI --max-time 60 "http://deb.debian.org/debian/dists/bookworm/main/binary-$architecture/Packages.xz" >/dev/null ||
    { echo "SKIPPED: no Debian for $architecture at deb.debian.org"; exit 77; }
done

mkdir -p site/recipes/framework/probe site/recipes/base
cp -r "$KILN_SOURCE/recipes/base/debian" site/recipes/base/debian
cat >site/recipes/framework/probe/recipe.json <<'J'
{"description": "Python, which says on which processor it runs", "licenses": "PSF-2.0", "versions": {"1": {}},
 "methods": {"distro": {"script": "distro.sh", "parameters": ["KILN_CPU_FAMILY"], "needs": [{"kind": "base", "name": "debian", "version": "bookworm"}]}},
 "test": {"script": "smoke.sh"}}
J
cat >site/recipes/framework/probe/distro.sh <<'S'
#!/bin/sh -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends python3-minimal
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
S
cat >site/recipes/framework/probe/smoke.sh <<'S'
#!/bin/sh -eu
exec python3 - <<'PYTHON'
import hashlib
import os
import platform
import struct
import sys

if platform.machine() != os.environ["KILN_CPU_FAMILY"]:
    sys.exit(f"this is {platform.machine()}")
head = open(sys.executable, "rb").read(20)  # of an ELF file: e_machine
print(f"Python {platform.python_version()} on {platform.machine()}, ELF machine {struct.unpack('<H', head[18:])[0]},",
      hashlib.sha256(b"abc").hexdigest()[:8])
PYTHON
S
matrix=site/probe.json
cat >"$matrix" <<'J'
{"name": "probe", "axes": {"framework": ["probe"], "version": ["1"], "method": ["distro"], "base": ["debian@bookworm"], "target": ["neoverse_n1", "power9le"]}}
J
start_registry
place=$host/site/ai
echo "{\"jobs\": 2, \"publish\": {\"registry\": \"$place\", \"aliases\": [{\"name\": \"probe:1\", \"images\": [\"probe:1-*\"]}]}}" >site.json

begun=$(date +%s)
expect 0 "$KILN" build -f "$matrix"
holds "$out" '2 built'
echo "built in $(($(date +%s) - begun)) s"
expect 0 "$KILN" test -f "$matrix" --format json
# Of each image its Debian's test and its own.
equals "$(json 'sorted({(row["image"].split("-")[2], row["result"], row["machine"].split(" (")[1]) for row in it}), len(it)')" \
  "[('neoverse_n1', 'passed', 'emulated: qemu-aarch64 $emulator)'), ('power9le', 'passed', 'emulated: qemu-ppc64le $emulator)')] 4"
grep -hs '^Python .* on ' .kiln/logs/*.log
# 183 and 21: EM_AARCH64 and EM_PPC64.
grep -qsE '^Python .* on aarch64, ELF machine 183, ba7816bf$' .kiln/logs/*.log || fail 'no Python ran on Arm'
grep -qsE '^Python .* on ppc64le, ELF machine 21, ba7816bf$' .kiln/logs/*.log || fail 'no Python ran on POWER'

expect 0 "$KILN" publish -f "$matrix"
holds "$out" '2 images pushed'
expect 0 "$KILN" index list --format json
equals "$(json "sorted((row['cpu'], row['evidence']['verdict'], sorted({run.get('emulator') for run in row['tests']['ran'].values()})) for row in it)")" \
  "[('neoverse_n1', 'conforms', ['qemu-aarch64 $emulator']), ('power9le', 'not judged', ['qemu-ppc64le $emulator'])]"
# One name, an image for each.
out=$(skopeo inspect --raw "docker://$place/probe:1")
equals "$(json 'sorted(image["platform"]["architecture"] for image in it["manifests"])')" "['arm64', 'ppc64le']"
for architecture in arm64 ppc64le; do
  equals "$(skopeo inspect --override-arch "$architecture" --format '{{.Architecture}}' "docker://$place/probe:1")" "$architecture"
done
expect 0 "$KILN" build -f "$matrix"
holds "$out" 'nothing to do'
echo "emulated_debian: two Debians built, tested, joined in $(($(date +%s) - begun)) s"
