#!/usr/bin/env bash
# Every engine makes the same layers of a Debian, the demo's base, with apt and with all kinds of changed files.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/dockerd.sh
. "$KILN_SOURCE/tests/support/dockerd.sh"
matrix=$KILN_SOURCE/tests/data/engines/engines.json
recipes=(--recipes "$KILN_SOURCE/recipes" --recipes "$KILN_SOURCE/tests/data/engines/recipes")
start_dockerd

image() { # image STATE: manifest and layers of its one image
  "$KILN_PYTHON" - "$1" <<'END'
import glob, json, sys
(path,) = glob.glob(sys.argv[1] + "/built/*.json")
digest = json.load(open(path))["manifest"].split(":")[1]
manifest = json.load(open(f"{sys.argv[1]}/store/sha256/{digest[:2]}/{digest}"))
print(digest, *(layer["digest"] for layer in manifest["layers"]))
END
}

expect 0 "$KILN" build -f "$matrix" "${recipes[@]}" --state buildah
# The base is made by a script on the machine, with no engine: it comes along, and so does what the lockfile of the moment says.
for engine in podman docker; do
  cp -r buildah "$engine"
  rm -rf "$engine"/engine "$engine"/built "$engine"/images
  for record in "$engine"/steps/*.json; do
    case $(grep -o '"blob"' "$record" | wc -l) in
      1) ;; # the base
      *) rm "$record" ;;
    esac
  done
  [ "$(find "$engine/steps" -name '*.json' | wc -l)" = 1 ] || fail 'not the base alone is left'
  expect 0 "$KILN" build -f "$matrix" "${recipes[@]}" --state "$engine" --engine "$engine"
  holds "$out" '1 built'
  equals "$(image "$engine")" "$(image buildah)"
done
echo 'engines of a Debian: ok'
