#!/usr/bin/env bash
# A Debian of two months: the second month's archive has another hello, and the first month's is gone. With a mirror that was filled in
# both, the lockfile of either month gives the bits of that month; without one, the first month's is refused.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
chmod 755 "$work" # apt reads the mirror as a user of its own
mkdir -p recipes/framework/probe matrix
cat >recipes/framework/probe/recipe.json <<'END'
{"licenses": "0BSD", "versions": {"1": {}}, "methods": {"distro": {"script": "probe.sh"}}}
END
cat >recipes/framework/probe/probe.sh <<'END'
apt-get update -qq -o APT::Update::Error-Mode=any
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends hello
apt-get clean
dpkg-query --show --showformat '${Version}\n' hello >/hello-version
END
echo '{"name": "probe", "axes": {"framework": ["probe"], "version": ["1"], "method": ["distro"], "base": ["debian@trixie"], "target": ["x86_64"]}}' >matrix/probe.json
echo '{"formats": ["oci"]}' >site.json
own=(--recipes "$KILN_SOURCE/recipes" --recipes recipes --site site.json)

# 1. The archive of the first month: what one image needs of the real one, in a suite that only this test has.
expect 0 "$KILN" build -f matrix/probe.json "${own[@]}" --state real
expect 0 "$KILN" mirror -f matrix/probe.json "${own[@]}" --state real real-mirror
mkdir -p debian/pool debian/dists/trixie/main/binary-amd64
cat >archive.py <<'END'
import glob, hashlib, lzma, os, re, shutil, subprocess, sys, time

def packages():  # of all suites: what is there
    for suite in glob.glob("real-mirror/apt/*"):
        for path in glob.glob(suite + "/dists/*/main/binary-amd64/Packages*"):
            text = (lzma.open(path, "rt") if path.endswith(".xz") else open(path)).read()
            for paragraph in text.split("\n\n"):
                file = re.search(r"^Filename: (.*)$", paragraph, re.M)
                if file and os.path.exists(f"{suite}/{file[1]}"):
                    yield paragraph.strip(), f"{suite}/{file[1]}"

def moved(paragraph, path):  # hello as of the second month
    shutil.rmtree("unpacked", ignore_errors=True)
    subprocess.run(["dpkg-deb", "-R", path, "unpacked"], check=True)
    control = open("unpacked/DEBIAN/control").read()
    version = re.search(r"^Version: (.*)$", control, re.M)[1]
    open("unpacked/DEBIAN/control", "w").write(control.replace(version, version + "+month2"))  # `version` was read from it
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", "unpacked", "hello.deb"], check=True, stdout=subprocess.DEVNULL)
    return re.sub(r"^Version: .*$", f"Version: {version}+month2", paragraph, flags=re.M), "hello.deb"

month, entries = sys.argv[1], {}
for paragraph, path in packages():
    name = re.search(r"^Package: (.*)$", paragraph, re.M)[1]
    if name == "hello" and month == "2":
        paragraph, path = moved(paragraph, path)
    content = open(path, "rb").read()
    file = f"pool/{name}-{hashlib.sha256(content).hexdigest()[:12]}.deb"
    paragraph = re.sub(r"^(MD5sum|SHA256|Size|Filename|Description-md5): .*\n?", "", paragraph, flags=re.M).strip()
    entries[name] = f"{paragraph}\nFilename: {file}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\n"
    open("debian/" + file, "wb").write(content)
for file in os.listdir("debian/pool"):
    if not any(f"pool/{file}\n" in entry for entry in entries.values()):
        os.remove("debian/pool/" + file)
index = "\n".join(entries[name] for name in sorted(entries)).encode()
open("debian/dists/trixie/main/binary-amd64/Packages", "wb").write(index)
date = time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime())
open("debian/dists/trixie/Release", "w").write(
    f"Origin: Debian\nSuite: stable\nCodename: trixie\nVersion: 13.{month}\nArchitectures: amd64\nComponents: main\nDate: {date}\nSHA256:\n"
    f" {hashlib.sha256(index).hexdigest()} {len(index)} main/binary-amd64/Packages\n")
END
month() { "$KILN_PYTHON" -B archive.py "$1"; }
month 1
"$KILN_PYTHON" -B -m http.server --bind 127.0.0.1 0 >server.out 2>&1 &
at_exit "kill $! 2>/dev/null || true"
until port=$(grep -oE 'port [0-9]+' server.out | cut -d' ' -f 2) && [ -n "$port" ]; do sleep 0.1; done
cp -a /etc/apt etc-apt
rm -rf etc-apt/sources.list etc-apt/sources.list.d/*
printf 'Types: deb\nURIs: http://127.0.0.1:%s/debian\nSuites: trixie\nComponents: main\nTrusted: yes\n' "$port" >etc-apt/sources.list.d/month.sources
machine() { # machine STATUS WORDS…: kiln where apt has that archive, and no other
  # shellcheck disable=SC2016 # for the inner shell
  expect "$1" unshare --mount sh -euc 'mount --bind "$1" /etc/apt; shift; exec "$@"' sh "$work/etc-apt" "$KILN" "${@:2}" "${own[@]}"
}
images() { "$KILN_PYTHON" -B "$KILN_SOURCE/tests/support/image_bits.py" "$1"; }

# 2. Each month is locked, built and mirrored: into one folder.
machine 0 lock -f matrix/probe.json
machine 0 build -f matrix/probe.json --locked --state month1
machine 0 mirror -f matrix/probe.json mirror --state month1
cp matrix/probe.lock.json month1.lock.json
month 2
machine 1 build -f matrix/probe.json --locked --state never
holds "$err" 'they moved on'
machine 7 mirror -f matrix/probe.json not-in-time --state month1
holds "$err" 'an archive has only its current packages'
machine 0 lock -f matrix/probe.json --update debian
machine 0 build -f matrix/probe.json --locked --state month2
machine 0 mirror -f matrix/probe.json mirror --state month2
[ "$(images month1)" != "$(images month2)" ] || fail 'the months are one'
expect 0 "$KILN" mirror --check mirror

# 3. From the mirror alone: the lockfile of a month gives its bits.
cp -r matrix matrix1
cp month1.lock.json matrix1/probe.lock.json
offline() { expect "$1" unshare --net -- "$KILN" "${@:2}" "${own[@]}" --offline --mirror mirror --locked; }
offline 0 build -f matrix1/probe.json --state again1
equals "$(images again1)" "$(images month1)"
offline 0 build -f matrix/probe.json --state again2
equals "$(images again2)" "$(images month2)"

# 4. What only the first month's needs, and is damaged, is given up with a word; the second month's goes on.
old=$("$KILN_PYTHON" -c 'import json; print(next(i["path"] for i in json.load(open("mirror/mirror.json"))["items"] if i["name"].startswith("hello") and not i["cells"]))')
echo x >"$(readlink -f "mirror/$old")"
expect 8 "$KILN" mirror --check mirror
machine 0 mirror -f matrix/probe.json mirror --state month2
holds "$err" 'only earlier lockfiles need it'
expect 0 "$KILN" mirror --check mirror
offline 1 build -f matrix1/probe.json --state gone
holds "$err" "$(basename "$old")"
echo 'the bits of either month'
