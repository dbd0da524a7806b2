# shellcheck shell=bash
# Two images of hello 2.10 in tiny/: the stock one, and one with the library `fast`, and the workload `say`, which tells the speed of each as
# tell() has set it. Sourced after script.sh.
cp -r "${tiny:?}" tiny
edit '0,/"script": "distro.sh"/s//"stock": true, "script": "distro.sh"/' tiny/recipes/framework/hello/recipe.json
cat >tiny/tiny.json <<'J'
{"name": "tiny", "axes": {"framework": ["hello"], "version": ["2.10"], "method": ["distro"], "library": ["none", "fast"],
  "base": ["busybox@1.35"], "target": ["x86_64"]}}
J
mkdir tiny/recipes/workload/say
echo '{"description": "Says what it was told", "licenses": "Apache-2.0", "homepage": "https://example.org/say", "versions": {"1.0": {}},
  "methods": {"distro": {"script": "bench.sh", "files": ["plain", "fast"]}}}' >tiny/recipes/workload/say/recipe.json
cat >tiny/recipes/workload/say/bench.sh <<'SH'
#!/bin/sh -eu
said=plain
if [ -e /opt/kiln/fast/version ]; then said=fast; fi
cat "$said"
SH
tell() { # tell PLAIN FAST: milliseconds of a step
  echo "{\"unit\": \"ms/step\", \"samples\": [$1, $1, $1, $1]}" >tiny/recipes/workload/say/plain
  echo "{\"unit\": \"ms/step\", \"samples\": [$2, $2, $2, $2]}" >tiny/recipes/workload/say/fast
}
