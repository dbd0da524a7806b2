#!/usr/bin/env bash
# Packages upon a base that is pulled, a real Debian from a registry: of the archive that its own sources name, and of one without suites
# that a step adds with its key. Mirrored, then built in a network namespace that has no network: the same bits.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
for tool in buildah mmdebstrap apt-get dpkg-deb dpkg-scanpackages gpg; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool here"; exit 77; }
done
# shellcheck source=ci/debian_root.sh
. "$KILN_SOURCE/ci/debian_root.sh"
fail() { # script.sh's again
  echo "FAILED: $*" >&2
  exit 1
}
chmod 755 "$work" # apt reads the mirror as a user of its own
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
IFS=$'\t' read -r uri key < <(debian_source) || { echo "SKIPPED: no Debian among apt's sources"; exit 77; }

# 1. The base, with a source as this machine has it.
make_debian_root "$suite" base.tar --variant=apt --format=tar 2>base.log || { tail base.log; fail 'no Debian'; }
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
start_registry
engine() { buildah --storage-driver vfs --root "$work/buildah" --runroot "$work/run" "$@"; }
container=$(engine from scratch)
engine add --quiet "$container" base.tar / >/dev/null
root=$(engine mount "$container")
rm -f "$root"/etc/apt/sources.list.d/* "$root"/etc/apt/apt.conf.d/99mmdebstrap
[ -z "$key" ] || install -D -m 644 "$key" "$root/etc/apt/keyrings/of-debian.${key##*.}"
echo "deb ${key:+[signed-by=/etc/apt/keyrings/of-debian.${key##*.}] }$uri $suite main" >"$root/etc/apt/sources.list"
apt_options >"$root/etc/apt/apt.conf.d/50site"
engine umount "$container" >/dev/null
engine commit --quiet "$container" image >/dev/null
engine push --quiet --tls-verify=false image "docker://$host/site/debian:1" >/dev/null

# 2. An archive without suites, signed.
mkdir -p www/sub probe/DEBIAN probe/opt
echo 'a file of the probe' >probe/opt/probe
printf 'Package: kiln-probe\nVersion: 1:2~3+4\nArchitecture: all\nMaintainer: nobody <nobody@example.invalid>\nDescription: probe\n' >probe/DEBIAN/control
dpkg-deb --root-owner-group --build probe "www/sub/kiln-probe_2~3+4_all.deb" >/dev/null
(cd www && dpkg-scanpackages --multiversion sub >Packages 2>/dev/null && xz -k Packages)
{
  echo "Date: $(date -Ru)"
  echo 'SHA256:'
  for file in Packages Packages.xz; do echo " $(sha256sum www/$file | cut -c 1-64) $(stat -c %s www/$file) $file"; done
} >www/Release
mkdir -m 700 gnupg
gpg() { command gpg --homedir "$work/gnupg" --batch --quiet "$@"; }
at_exit "gpgconf --homedir '$work/gnupg' --kill all 2>/dev/null || true"
gpg --passphrase '' --quick-gen-key probe@example.invalid rsa3072
gpg --clearsign -o www/InRelease www/Release
gpg --armor --export >www/key.asc
"$KILN_PYTHON" -B -m http.server --bind 127.0.0.1 --directory www 0 >server.out 2>&1 &
server=$!
at_exit "kill $server 2>/dev/null || true"
until web_port=$(grep -oE 'port [0-9]+' server.out | cut -d' ' -f 2) && [ -n "$web_port" ]; do sleep 0.1; done

# 3. The catalogue.
recipe() { # recipe KIND NAME METHOD
  mkdir -p "recipes/$1/$2"
  echo "{\"description\": \"d\", \"licenses\": \"0BSD\", \"versions\": {\"1\": {}}, \"methods\": {$3}}" >"recipes/$1/$2/recipe.json"
}
recipe base pulled "\"hub\": {\"image\": \"$host/site/debian:{version}\"}"
recipe toolchain source '"distro": {"script": "run.sh", "files": ["key.asc"]}'
recipe framework probe '"distro": {"script": "run.sh", "needs": [{"kind": "toolchain", "name": "source"}]}'
cp www/key.asc recipes/toolchain/source/
cat >recipes/toolchain/source/run.sh <<END
apt-get update -qq -o APT::Update::Error-Mode=any
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends hello
mkdir -p /etc/apt/keyrings
cp key.asc /etc/apt/keyrings/probe.asc
echo 'deb [arch=$(dpkg --print-architecture) signed-by=/etc/apt/keyrings/probe.asc] http://127.0.0.1:$web_port/ /' >/etc/apt/sources.list.d/probe.list
END
cat >recipes/framework/probe/run.sh <<'END'
apt-get update -qq -o APT::Update::Error-Mode=any
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends kiln-probe sl
cat /opt/probe
END
cp -r "$tiny/targets" .
echo '{"name": "pulled", "axes": {"framework": ["probe"], "version": ["1"], "base": ["pulled@1"], "target": ["plain"]}}' >pulled.json
echo '{"formats": ["oci"]}' >site.json
export KILN_SITE=$work/site.json

# 4. What is not built has packages that nobody knows; then all of them come, and no package of the base.
expect 1 "$KILN" mirror -f pulled.json mirror --state with
holds "$err" '2 steps are not built here yet'
expect 0 "$KILN" build -f pulled.json --state with
holds "$out" '1 built'
fill() { expect "$1" "$KILN" mirror -f pulled.json mirror --state with --format json; }
fill 0
packages() { "$KILN_PYTHON" -c 'import json; print(*sorted(i["name"].split("_")[0] for i in json.load(open("mirror/mirror.json"))["items"] if i["kind"] == "package"))'; }
all=$(packages)
for package in hello kiln-probe sl; do holds " $all " " $package "; done
if [[ " $all " == *' dpkg '* ]]; then fail 'a package of the base is mirrored'; fi
fill 0
equals "$(json 'it["fetched"]')" 0
expect 0 "$KILN" mirror --check mirror
holds "$out" 'all whole'

# 5. Without a network, and where the first step has not yet the key of the second archive: the same bits.
kill "$server"
stop_registry
images() { "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/image_bits.py" "$1"; }
for engine in buildah podman; do
  command -v $engine >/dev/null || continue
  expect 0 unshare --net -- "$KILN" build -f pulled.json --state without-$engine --offline --mirror mirror --engine $engine
  equals "$(images without-$engine)" "$(images with)"
done
if grep -rlF /run/kiln/mirror without-buildah --include='*.json'; then fail 'the mirror in a record'; fi

# 6. A flipped bit: no image is made of it. An archive that is gone: its name is told, and what is there stays.
file=$(readlink -f mirror/apt/flat-*/sub/*.deb)
"$KILN_PYTHON" - "$file" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    byte = file.read(101)[100]
    file.seek(100)
    file.write(bytes([byte ^ 1]))
END
expect 8 "$KILN" mirror --check mirror
holds "$out" 'package kiln-probe'
expect 6 unshare --net -- "$KILN" build -f pulled.json --state damaged --offline --mirror mirror
holds "$out" '0 built'
lacks "$err" 'try 2 of' # it has it or not
start_registry
fill 6
holds "$out" 'kiln-probe'
"$KILN_PYTHON" -B -m http.server --bind 127.0.0.1 --directory www "$web_port" >server.out 2>&1 &
at_exit "kill $! 2>/dev/null || true"
until grep -q port server.out; do sleep 0.1; done
fill 0
equals "$(json 'it["fetched"]')" 1
expect 0 "$KILN" mirror --check mirror

# 7. A key that nobody in the image trusts: nothing of that archive is taken.
gpg --passphrase '' --quick-gen-key other@example.invalid rsa3072
gpg --yes --local-user other@example.invalid --clearsign -o www/InRelease www/Release
rm -r mirror
fill 6
holds "$out" 'cannot fetch the lists of packages'
if ls mirror/apt/flat-* 2>/dev/null; then fail 'lists that nobody vouches for'; fi
echo 'packages upon a pulled base: ok'
