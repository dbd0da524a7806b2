#!/usr/bin/env bash
# ci/pin --source: source archives are pinned by address and digest, and nothing of them runs.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

# An index with one package, whose setup.py would betray that it ran, and a server for it.
mkdir -p site/simple/fast-sort fast_sort-1.2
ran=$work/ran
echo "open('$ran', 'w')" >fast_sort-1.2/setup.py
printf 'Metadata-Version: 2.2\nName: fast_sort\nVersion: 1.2\nRequires-Dist: numpy>=2\nRequires-Dist: pytest; extra == "test"\n' >fast_sort-1.2/PKG-INFO
printf '[build-system]\nrequires = ["setuptools>=64", "cython"]\n' >fast_sort-1.2/pyproject.toml
tar -czf site/fast_sort-1.2.tar.gz fast_sort-1.2
digest=$(sha256sum site/fast_sort-1.2.tar.gz | cut -d ' ' -f 1)
cat >site/simple/fast-sort/index.html <<HTML
<a href="../../fast_sort-1.1.tar.gz#sha256=$digest">old</a>
<a href="../../fast_sort-1.2-cp313-cp313-linux_x86_64.whl">wheel</a>
<a href="../../fast_sort-1.2.tar.gz#sha256=$digest">source</a>
<a href="../../fast_sort-1.3.tar.gz#sha256=$(printf '0%.0s' {1..64})">another than the index says</a>
HTML
cp site/fast_sort-1.2.tar.gz site/fast_sort-1.3.tar.gz
cat >serve.py <<'PYTHON'
import functools, http.server, pathlib
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory="site"))
pathlib.Path("port.new").write_text(str(server.server_port))
pathlib.Path("port.new").rename("port")
server.serve_forever()
PYTHON
{ "$KILN_PYTHON" serve.py 2>requests & echo $! >server.pid; } && at_exit "kill $(cat server.pid) 2>/dev/null || true"
until [ -e port ]; do kill -0 "$(cat server.pid)" || fail 'no server'; done
address=http://127.0.0.1:$(cat port)
export UV_DEFAULT_INDEX=$address/simple no_proxy=127.0.0.1
pin() { "$KILN_PYTHON" "$KILN_SOURCE/ci/pin" "$@"; }

expect 0 pin --source "$address/fast_sort-1.2.tar.gz"
equals "$out" "\"source\": {\"url\": \"$address/fast_sort-1.2.tar.gz\", \"checksum\": \"sha256:$digest\"}"
expect 0 pin --source Fast_Sort==1.2
equals "$out" "\"1.2\": {\"source\": {\"url\": \"$address/fast_sort-1.2.tar.gz\", \"checksum\": \"sha256:$digest\"}}"
expect 1 pin --source fast-sort==2.0
equals "$err" 'ci/pin: the index has no source archive of fast-sort 2.0; its last: 1.1, 1.2, 1.3'
expect 1 pin --source fast-sort==1.3
holds "$err" "has the SHA-256 $digest, and the index says 0000"
expect 1 pin --source slow-sort==1.0
holds "$err" "ci/pin: cannot fetch $address/simple/slow-sort/: HTTP Error 404"
expect 1 pin --source fast-sort
equals "$err" 'ci/pin: --source fast-sort: expected NAME==VERSION or a URL'
expect 2 pin jax==0.10.2

# With requirements: the archive by its digest, and wheels for what it says that it needs. This uv knows numpy.
mkdir bin
cat >bin/uv <<'SH'
#!/bin/sh -eu
for word; do case ${before:-} in --output-file) lock=$word ;; --override) cp "$word" overridden ;; esac; before=$word; done
cat "$before" >>asked
printf '[[packages]]\nname = "numpy"\nversion = "2.5.5"\n[[packages.wheels]]\nurl = "https://a.org/numpy.whl"\nhashes = {sha256 = "%064d"}\n' 7 >"$lock"
SH
chmod +x bin/uv
PATH=$work/bin:$PATH expect 0 pin --python 3.13 --machine x86_64 --source fast-sort==1.2
equals "$(cat asked)" 'numpy>=2'
equals "$out" "# For CPython 3.13 on x86-64. Made by: ci/pin --python 3.13 --machine x86_64 --source fast-sort==1.2
# The build of fast-sort needs: setuptools>=64, cython
fast-sort==1.2 \\
    --hash=sha256:$digest
numpy==2.5.5 \\
    --hash=sha256:$(printf '%064d' 7)"
equals "$err" ''
# In place of what packages say of NumPy.
PATH=$work/bin:$PATH expect 0 pin --python 3.13 --machine x86_64 numpy --override numpy==2.5.5
equals "$(cat overridden)" 'numpy==2.5.5'
[ ! -e "$ran" ] || fail 'the build of an archive ran'
echo 'pin: source archives by their digests'
