#!/usr/bin/env bash
# The demo's base and a step that uses apt, pip and git upon it, built on two machines: this one as it is, and one behind a proxy with
# a password, which checks no dates, whose index of wheels and git server want a password and a certificate authority of the site's own.
# The bits are the same, nothing of either machine is in them, and the steps did use what the site hands in.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

canary='canary-5e1f0c27'
# In a folder that goes with the test: apt's own user reads what it uses.
chmod 755 "$work"

# 1. A catalogue of one image.
mkdir -p recipes/framework/probe matrix
cat >recipes/framework/probe/recipe.json <<'END'
{
  "licenses": "0BSD",
  "versions": {"1": {}},
  "methods": {"pip": {"script": "pip.sh", "needs": [{"kind": "toolchain", "name": "python"}]}}
}
END
cat >recipes/framework/probe/pip.sh <<'END'
# Says what it was handed, without a word of it, and uses it.
for file in "${PIP_CONFIG_FILE:-}" "${GIT_CONFIG_SYSTEM:-}" "${SSL_CERT_FILE:-}" "${APT_CONFIG:-}"; do
  case $(cat "$file" 2>/dev/null) in *canary*) echo "seen: $file" ;; esac
done
apt-get update -qq -o APT::Update::Error-Mode=any
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends git
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
mkdir -p /opt/kiln/probe
/usr/bin/python3 -m venv --without-pip /opt/kiln/probe/venv
# The pip of this release, from the wheel that it bootstraps others with.
/usr/bin/python3 -m venv /tmp/pip
/tmp/pip/bin/pip --python /opt/kiln/probe/venv/bin/python3 install --no-cache-dir --no-compile --root-user-action=ignore probe-of-site
git clone --quiet https://git.example.invalid/probe.git /tmp/clone
cp /tmp/clone/file /opt/kiln/probe/
END
cat >matrix/probe.json <<'END'
{"name": "probe", "axes": {"framework": ["probe"], "method": ["pip"], "base": ["debian@trixie"], "target": ["x86_64"]}}
END

# 2. The site's servers: a proxy, an index of wheels, a git repository.
"$KILN_PYTHON" - <<'END'
import pathlib, zipfile
folder = pathlib.Path("www/simple/probe-of-site")
folder.mkdir(parents=True)
name = "probe_of_site-1-py3-none-any.whl"
files = {"probe_of_site.py": "answer = 42\n",
         "probe_of_site-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: probe-of-site\nVersion: 1\n",
         "probe_of_site-1.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
         "probe_of_site-1.dist-info/RECORD": ""}
with zipfile.ZipFile(folder / name, "w") as wheel:
    for path, text in files.items():
        wheel.writestr(zipfile.ZipInfo(path), text)
(folder / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{name}">{name}</a></body></html>')
END
git -c init.defaultBranch=main init --quiet source
echo 'from git' >source/file
git -C source add file
git -C source -c user.name=test -c user.email=test@example.invalid commit --quiet --message probe
git clone --quiet --bare source www/probe.git
git -C www/probe.git update-server-info
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out site-ca.crt -subj "/CN=$canary-ca" \
  -addext 'subjectAltName=DNS:localhost' 2>/dev/null
mkfifo server.stdin
"$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/site_server.py" "kiln:$canary-password" "$work" site-ca.crt ca.key <server.stdin >ports &
exec 9>server.stdin
until [ -s ports ]; do sleep 0.1; done
read -r open closed <ports

# 3. Two machines. The other one's apt has the same archives through the proxy, each source in a form of its own, with a key of the site's.
cp -a /etc/apt etc-apt
cat >etc-apt/apt.conf.d/99zz-site <<END
Acquire::http::Proxy "http://kiln:$canary-password@127.0.0.1:$open";
Acquire::Check-Valid-Until "false";
Acquire::Check-Date "false";
Acquire::Retries "7";
END
mkdir -p etc-apt/auth.conf.d
echo "machine http://deb.debian.org login kiln password $canary-password" >etc-apt/auth.conf.d/site.conf
keyring=$work/site-key.gpg
cp /usr/share/keyrings/debian-archive-keyring.gpg "$keyring"
edit "s|^Signed-By:.*debian-archive-keyring.*|Signed-By: $keyring|" etc-apt/sources.list.d/*.sources
with_password="https://kiln:$canary-password@localhost:$closed"
printf '[global]\nindex-url = %s/simple/\n' "$with_password" >pip.conf
# shellcheck disable=SC2016 # git's own
insteadOf='[url "%s/"]\n\tinsteadOf = https://git.example.invalid/\n# %s\n'
# shellcheck disable=SC2059 # the format is a variable
printf "$insteadOf" "$with_password" "$canary" >gitconfig-of-other
# shellcheck disable=SC2059
printf "$insteadOf" "http://127.0.0.1:$open" this >gitconfig-of-this
{ cat /etc/ssl/certs/ca-certificates.crt site-ca.crt && echo "# $canary-ca"; } >ca.crt
unset PIP_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL
export PIP_DISABLE_PIP_VERSION_CHECK=1
build() { # build NAME [SITE KEYS]: into the state folder NAME
  echo "{\"formats\": [\"oci\"], \"git_configuration\": \"$PWD/gitconfig-of-$1\"${2:-}}" >"$1.json"
  "$KILN" build -f matrix/probe.json --recipes "$KILN_SOURCE/recipes" --recipes recipes --state "$PWD/$1" --site "$1.json" \
    >"$1.out" 2>"$1.err"
}
this_machine() (
  export PIP_NO_INDEX=1 PIP_FIND_LINKS="$work/www/simple/probe-of-site"
  build this
)
other_machine() (
  export http_proxy="http://kiln:$canary-password@127.0.0.1:$open" no_proxy=localhost KILN KILN_SOURCE
  # shellcheck disable=SC2016 # expanded by the shell that is started
  SITE_KEYS=", \"pip_configuration\": \"$work/pip.conf\", \"ca_certificates\": \"$work/ca.crt\"" \
    unshare --mount --propagation private bash -c "$(declare -f build)"'; mount --bind etc-apt /etc/apt && build other "$SITE_KEYS"'
)
this_machine &
status=0
other_machine || status=$?
[ "$status" = 0 ] || { cat other.err && fail "the other machine: exit status $status"; }
wait $! || { cat this.err && fail "this machine: exit status $?"; }
exec 9>&-

# 4. What was handed in was used, and the step saw it.
[ ! -e refused ] || fail "a step did not show the password: $(sort -u refused)"
asked=$(cut -d' ' -f 1,2 asked | sort -u)
holds "$asked" 'proxy http://deb.debian.org/debian/dists/trixie/InRelease'
holds "$asked" 'archive http://deb.debian.org/debian/dists/trixie/InRelease'
holds "$asked" 'file /simple/probe-of-site/probe_of_site-1-py3-none-any.whl'
holds "$asked" 'file /probe.git/info/refs'
seen=$(cat other/logs/*.log | grep '^seen: ' | sort -u)
for file in /run/kiln/pip.conf /run/kiln/gitconfig /run/kiln/ca-certificates.crt /run/kiln/apt.conf; do
  holds "$seen" "seen: $file"
done

# 5. The same bits.
layers() {
  "$KILN_PYTHON" - "$1" <<'END'
import glob, json, sys
for path in glob.glob(sys.argv[1] + "/built/*.json"):
    digest = json.load(open(path))["manifest"].split(":")[1]
    manifest = json.load(open(f"{sys.argv[1]}/store/sha256/{digest[:2]}/{digest}"))
    print(digest, *(layer["digest"] for layer in manifest["layers"]))
END
}
difference() { # what differs, for the message
  image() { find "$1/images/probe" -mindepth 1 -maxdepth 1 -type d -print -quit; }
  "$KILN" diff "oci:$(image this)" "oci:$(image other)" || true
}
[ "$(layers this)" = "$(layers other)" ] || { difference && fail 'the two machines built other bits'; }

# 6. No canary in any layer, document, log, record or generated file; in the image Debian's own sources and no setting of a machine.
"$KILN" generate -f matrix/probe.json --recipes "$KILN_SOURCE/recipes" --recipes recipes --state "$work/other" --site other.json -o out >/dev/null
if grep -rlF "$canary" other out other.out other.err --exclude-dir=engine; then fail 'a canary outside the site file'; fi
mkdir root
for layer in $(layers other | cut -d' ' -f 2-); do
  blob=other/store/sha256/$(cut -c 8-9 <<<"$layer")/${layer#sha256:}
  zstd -dcq "$blob" >layer.tar
  if grep -aqF "$canary" layer.tar; then fail "a canary in $layer"; fi
  tar --warning=no-unknown-keyword -C root --exclude='./dev/*' --exclude='dev/*' -xf layer.tar
done
equals "$(ls root/etc/apt/sources.list.d root/etc/apt/auth.conf.d root/run/kiln 2>/dev/null)" \
  "$(printf 'root/etc/apt/auth.conf.d:\n\nroot/etc/apt/sources.list.d:')"
equals "$(cat root/etc/apt/sources.list)" "$(
  for archive in 'debian trixie' 'debian trixie-updates' 'debian-security trixie-security'; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$archive main"
  done
)"
if grep -rqE 'Acquire|Check-|Proxy' root/etc/apt; then fail 'a setting of the machine in the image'; fi
if [ -e root/etc/gitconfig ] || [ -e root/etc/pip.conf ]; then fail "pip's or git's configuration in the image"; fi
equals "$(cat root/opt/kiln/probe/file root/opt/kiln/probe/venv/lib/python*/site-packages/probe_of_site.py)" "$(printf 'from git\nanswer = 42')"
echo 'two machines, the same bits'
