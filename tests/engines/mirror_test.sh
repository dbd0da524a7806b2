#!/usr/bin/env bash
# A catalogue of Debian with a package, a wheel, an archive, a commit with a submodule: mirrored, then built in a network namespace
# that has no network. The bits are those of the build that had one, with every engine and for a user without rights.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/dockerd.sh
. "$KILN_SOURCE/tests/support/dockerd.sh"
chmod 755 "$work" # apt reads the mirror as a user of its own

# 1. The sources: a wheel in a folder of pip's, an archive and an index behind HTTP, a repository with a submodule.
mkdir -p recipes/framework/probe matrix wheels www
"$KILN_PYTHON" - <<'END'
import zipfile
with zipfile.ZipFile("wheels/probe_wheel-1-py3-none-any.whl", "w") as wheel:
    for path, text in {"probe_wheel.py": "answer = 42\n", "probe_wheel-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: probe-wheel\nVersion: 1\n",
                       "probe_wheel-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                       "probe_wheel-1.dist-info/RECORD": ""}.items():
        wheel.writestr(zipfile.ZipInfo(path), text)
END
wheel=$(sha256sum wheels/*.whl | cut -c 1-64)
echo 'an archive' >www/probe.tar
archive=$(sha256sum www/probe.tar | cut -c 1-64)
commit_all() { git -C "$1" add -A && git -C "$1" -c user.name=test -c user.email=test@example.invalid commit --quiet --message probe; }
git -c init.defaultBranch=main init --quiet below
echo below >below/file && commit_all below
git -c init.defaultBranch=main init --quiet above
echo above >above/file
git -C below config uploadpack.allowAnySHA1InWant true
git_port=$(free_ports 1)
git daemon --reuseaddr --listen=127.0.0.1 --port="$git_port" --base-path="$work" --export-all >git.out 2>&1 &
at_exit "kill $! 2>/dev/null || true"
until git ls-remote --quiet "git://127.0.0.1:$git_port/below" >/dev/null 2>&1; do sleep 0.1; done
git -C above submodule --quiet add "git://127.0.0.1:$git_port/below" below
# As people write it: relative to where the repository itself is.
git -C above config -f .gitmodules submodule.below.url ../below
commit_all above
commit=$(git -C above rev-parse HEAD)
git -C above config uploadpack.allowAnySHA1InWant true
"$KILN_PYTHON" -B -m http.server --bind 127.0.0.1 --directory www 0 >server.out 2>&1 &
at_exit "kill $! 2>/dev/null || true"
until port=$(grep -oE 'port [0-9]+' server.out | cut -d' ' -f 2) && [ -n "$port" ]; do sleep 0.1; done

# 2. The catalogue.
cat >recipes/framework/probe/recipe.json <<END
{
  "licenses": "0BSD",
  "versions": {
    "1": {"source": {"url": "http://127.0.0.1:$port/probe.tar", "checksum": "sha256:$archive"}},
    "2": {"source": {"url": "git://127.0.0.1:$git_port/above", "checksum": "git:$commit"}}
  },
  "methods": {"pip": {"script": "probe.sh", "files": ["requirements.txt"], "parameters": ["KILN_VERSION", "KILN_SOURCE_URL", "KILN_SOURCE_CHECKSUM"],
                      "needs": [{"kind": "toolchain", "name": "python"}]}}
}
END
printf 'probe-wheel==1 --hash=sha256:%s\n' "$wheel" >recipes/framework/probe/requirements.txt
cat >recipes/framework/probe/probe.sh <<'END'
mkdir -p /opt/kiln/probe
apt-get update -qq -o APT::Update::Error-Mode=any
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends git ca-certificates curl hello
apt-get clean
/usr/bin/python3 -m venv /tmp/pip
/tmp/pip/bin/pip install --quiet --no-cache-dir --no-compile --require-hashes --no-deps --target /opt/kiln/probe -r requirements.txt
case $KILN_VERSION in
  1)
    curl -fsSL --proto '=http' -o /opt/kiln/probe/archive "$KILN_SOURCE_URL"
    echo "${KILN_SOURCE_CHECKSUM#sha256:}  /opt/kiln/probe/archive" | sha256sum -c --quiet
    ;;
  2)
    git init --quiet /tmp/source && cd /tmp/source
    git remote add origin "$KILN_SOURCE_URL" # what a submodule beside it is relative to
    git fetch -q --depth 1 "$KILN_SOURCE_URL" "${KILN_SOURCE_CHECKSUM#git:}"
    git checkout --quiet FETCH_HEAD
    git submodule --quiet update --init --recursive --depth 1
    cat file below/file >/opt/kiln/probe/commit
    ;;
esac
END
echo '{"name": "probe", "axes": {"framework": ["probe"], "version": ["1", "2"], "base": ["debian@trixie"], "target": ["x86_64"]}}' >matrix/probe.json
echo '{"formats": ["oci"]}' >site.json
export PIP_FIND_LINKS="$work/wheels" PIP_NO_INDEX=1
run() { "$KILN" "$@" --recipes "$KILN_SOURCE/recipes" --recipes recipes; }

# 3. What is not built yet has packages that nobody knows, and is told; the rest is there already.
mirror=$work/mirror
expect 1 run mirror -f matrix/probe.json "$mirror" --state with --site site.json
holds "$err" 'not built here yet'
expect 0 run lock -f matrix/probe.json --site site.json
expect 0 run build -f matrix/probe.json --state with --site site.json

# 4. A kill in the middle: the same command goes on, and what is whole is not fetched again.
"$KILN" mirror -f matrix/probe.json "$mirror" --recipes "$KILN_SOURCE/recipes" --recipes recipes --state with --site site.json >/dev/null 2>&1 &
filling=$!
has_files() { [ "$(find "$mirror/sha256" -type f 2>/dev/null | wc -l)" -ge 20 ]; }
until_true "$filling" /dev/null has_files
kill -KILL "$filling" 2>/dev/null || true
wait "$filling" 2>/dev/null || true
before=$(find "$mirror/sha256" -type f | wc -l)
expect 0 run mirror -f matrix/probe.json "$mirror" --state with --site site.json --format json
fetched=$(json 'it["fetched"]')
items=$(json 'it["items"]')
echo "killed with $before files there; $fetched of $items fetched then"
[ "$fetched" -lt "$items" ] || fail 'all was fetched again'
expect 0 run mirror -f matrix/probe.json "$mirror" --state with --site site.json --format json
equals "$(json 'it["fetched"]')" 0
expect 0 "$KILN" mirror --check "$mirror"
holds "$out" 'all whole'

# 5. Without a network, on a machine that has nothing but the mirror: the same layers, manifests and configurations.
cp -a "$mirror" carried
mv "$mirror" away && mv www www-away && mv below below-away && mv wheels wheels-away
unset PIP_FIND_LINKS PIP_NO_INDEX
offline() { unshare --net -- "$KILN" "$@" --recipes "$KILN_SOURCE/recipes" --recipes recipes --state without --site site.json --offline --mirror carried; }
expect 0 offline build -f matrix/probe.json --locked
images() { "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/image_bits.py" "$1"; }
equals "$(images without)" "$(images with)"
equals "$(find without/images -name index.json | wc -l)" 2
if grep -rlF /run/kiln/mirror without --include='*.json'; then fail 'the mirror in a record'; fi

# The engines make it of the same base: that is a script's, which runs on the machine.
start_dockerd
for engine in podman docker; do
  cp -r without $engine
  rm -rf $engine/engine $engine/built $engine/images
  for record in "$engine"/steps/*.json; do
    [ "$(grep -o '"blob"' "$record" | wc -l)" = 1 ] || rm "$record"
  done
  [ "$(find $engine/steps -name '*.json' | wc -l)" = 1 ] || fail 'not the base alone is left'
  expect 0 unshare --net -- "$KILN" build -f matrix/probe.json --locked --recipes "$KILN_SOURCE/recipes" --recipes recipes --state $engine --site site.json \
    --offline --mirror carried --engine $engine
  equals "$(images $engine)" "$(images with)"
done

# A user without rights, with a base of its own.
user=kiln-mirror
id "$user" >/dev/null 2>&1 || useradd --create-home "$user"
home=$(getent passwd "$user" | cut -d: -f 6)
at_exit "userdel --remove $user >/dev/null 2>&1 || true"
archspec=$("$KILN_PYTHON" -c 'import archspec, pathlib; print(pathlib.Path(archspec.__file__).parent / "json/cpu/microarchitectures.json")')
cp "$KILN" "$home/kiln"
cp -r "$archspec" "$KILN_SOURCE/recipes" matrix site.json "$home"
cp -r recipes "$home/own-recipes"
mkdir -m 700 "$home/runtime"
chown -R "$user:" "$home"
expect 0 unshare --net -- setpriv --reuid="$user" --regid="$user" --init-groups env -i PATH="$PATH" HOME="$home" XDG_RUNTIME_DIR="$home/runtime" \
  KILN_ARCHSPEC="$home/microarchitectures.json" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" "$home/kiln" -C "$home" build -f matrix/probe.json \
  --recipes recipes --recipes own-recipes --site site.json --offline --mirror "$work/carried"
equals "$(images "$home/.kiln")" "$(images with)"

# 6. What is missing is told by its name, before anything is built; a package that nobody mirrored is named by the step that asks for it.
item() { "$KILN_PYTHON" -c 'import json, sys; print(next(i["path"] for i in json.load(open("carried/mirror.json"))["items"] if i["kind"] == sys.argv[1] and i["name"].startswith(sys.argv[2])))' "$@"; }
file_of() { readlink -f "carried/$(item "$@")"; }
cp -al carried poorer
rm "$(file_of wheel probe_wheel | sed 's|/carried/|/poorer/|')"
expect 6 unshare --net -- "$KILN" build -f matrix/probe.json --recipes "$KILN_SOURCE/recipes" --recipes recipes --state empty --site site.json --offline --mirror poorer
holds "$err" 'probe_wheel-1-py3-none-any.whl'
[ -z "$(ls empty/steps 2>/dev/null)" ] || fail 'a step was run all the same'
cp -r recipes other-recipes
edit 's/ hello$/ hello sl/' other-recipes/framework/probe/probe.sh
expect 1 unshare --net -- "$KILN" build -f matrix/probe.json --recipes "$KILN_SOURCE/recipes" --recipes other-recipes --state without --site site.json --offline --mirror carried \
  version=1
holds "$err" '/pool/main/s/sl/sl_'

# 7. A flipped bit in whatever it is: it is found, no image is made of it, and the same command fetches it again.
flip() {
  "$KILN_PYTHON" - "$1" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    content = file.read()
    file.seek(len(content) // 2)
    file.write(bytes([content[len(content) // 2] ^ 1]))
END
}
expect 8 "$KILN" mirror --check poorer
holds "$out" 'wheel probe_wheel-1-py3-none-any.whl is missing'
holds "$out" '1 missing or damaged'
rm -r poorer # its files are those of the other
base_of() { # base_of STATE: with what the others have below, and nothing of the framework
  cp -r without "$1"
  for record in "$1"/steps/*.json; do
    [ "$(grep -o '"blob"' "$record" | wc -l)" -le 2 ] || rm "$record"
  done
  rm -rf "$1"/built "$1"/images
}
object=$(find "carried/$(item commit "git://127.0.0.1:$git_port/above")/objects" -type f -path '*/objects/??/*' | sort | head -n 1)
for file in "$(file_of package hello)" "$(file_of archive probe.tar)" "$(file_of index 'trixie main/binary-amd64/Packages')" "$object"; do
  flip "$file"
done
expect 8 "$KILN" mirror --check carried
equals "$(printf '%s\n' "$out" | grep -cE '^(package|archive|commit|index) .* is damaged: ')" 5 # a list has two names
base_of damaged
expect 1 unshare --net -- "$KILN" build -f matrix/probe.json --recipes "$KILN_SOURCE/recipes" --recipes recipes --state damaged --site site.json --offline --mirror carried
holds "$out" '0 built, 0 up to date, 2 failed'
rm "$(file_of wheel probe_wheel)"
mv www-away www && mv below-away below && mv wheels-away wheels
export PIP_FIND_LINKS="$work/wheels" PIP_NO_INDEX=1
expect 0 run mirror -f matrix/probe.json carried --state with --site site.json --format json
fetched=$(json 'it["fetched"]')
[ "$fetched" -ge 5 ] || fail "$fetched fetched"
expect 0 "$KILN" mirror --check carried

# 8. A folder that is no mirror, and no folder at all.
expect 2 run build -f matrix/probe.json --state empty --site site.json --offline --mirror www
holds "$err" 'no mirror.json'
expect 2 run build -f matrix/probe.json --state empty --site site.json --offline
echo 'the same bits without a network'
