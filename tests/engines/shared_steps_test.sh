#!/usr/bin/env bash
# Steps that builders share by Debian's registry and by a folder: who comes second runs none, and has the same images. What nobody
# trusted has signed, what is another step's, damaged, or gone is told and run; a registry that is away costs a moment and no image.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/registry.sh
. "$KILN_SOURCE/tests/support/registry.sh"
start_registry

cp -r "$tiny" tiny
for name in site foreign; do
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out $name.pem 2>/dev/null
  openssl pkey -in $name.pem -pubout -out $name.pub
done
site_file() { # site_file NAME STEPS
  printf '{"formats": ["oci"], "steps": %s}\n' "$2" >"$1.json"
}
shared=http://$host/ai/steps
site_file writer "{\"registry\": \"$shared\", \"key\": \"$work/site.pem\"}"
site_file reader "{\"registry\": \"$shared\", \"trust\": [\"$work/site.pub\"]}"
site_file stranger "{\"registry\": \"$shared\", \"trust\": [\"$work/foreign.pub\"]}"
site_file alone null
edit 's/, "steps": null//' alone.json

# runner SITE STATE [PATTERN…]: builds there; $out is the report, $err what was told.
cells=(version=2.10 library=none)
runner() {
  local site=$1 state=$2
  shift 2
  [ $# -gt 0 ] || set -- "${cells[@]}"
  KILN_SITE=$work/$site.json expect 0 "$KILN" --state "$state" build -f tiny/tiny.json "$@" --format json
}
ran() { json 'it["steps_run"] - it["built"]'; } # an image is made here, whoever has run its steps
fetched() { json 'it["steps_fetched"]'; }
digests() {
  "$KILN_PYTHON" - "$1" <<'END'
import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/built/*.json")):
    record = json.load(open(path))
    print(record["tag"], record["manifest"])
END
}
same_images() {
  digests right >right.digests
  digests "$1" >"$1.digests"
  [ -s right.digests ] || fail 'nothing was built'
  grep -F -f <(cut -d' ' -f1 "$1.digests") right.digests | diff - "$1.digests" || fail "$1 has other images"
}

# 1. Two runners of one pipeline: the second runs nothing, and asks for nothing that only build stages need.
runner writer right
equals "$(fetched)" 0
steps=$(ran)
equals "$("$KILN_PYTHON" -c "
import json, urllib.request
print(len(json.load(urllib.request.urlopen('http://$host/v2/ai/steps/tags/list'))['tags']))")" "$steps"
runner reader second
equals "$(ran)" 0
same_images second
holds "$err" "fetched "
holds "$err" "$host/ai/steps, made on $(hostname)"
[ "$(find second/steps -name "*.json" | wc -l)" -lt "$(find right/steps -name "*.json" | wc -l)" ] || fail 'what build stages are made of was fetched, too'
holds "$(cat second/logs/*.log)" 'signed by the key'
KILN_SITE=$work/reader.json expect 0 "$KILN" --state second plan -f tiny/tiny.json "${cells[@]}" --explain
holds "$out" '    fetched '

# 2. Nobody who is trusted has signed it: it is run here.
one=(version=2.10 library=none method=distro compiler=none)
runner stranger third "${one[@]}"
equals "$(fetched)" 0
[ "$(ran)" -gt 0 ] || fail 'nothing was run'
holds "$err" 'no key that the site file trusts has signed it; it is run here'
same_images third

# 3. Tampered with: one step given as another, a signature taken away, a record changed under its signature.
tampered() { # tampered WHAT: changes all that is in the registry
  "$KILN_PYTHON" - "$host" "$1" <<'END'
import base64, hashlib, json, sys, urllib.request
host, what = sys.argv[1:]
TYPE = "application/vnd.oci.image.manifest.v1+json"
def ask(method, path, body=None, **headers):
    url = path if path.startswith("http") else f"http://{host}/v2/ai/steps/{path}"
    return urllib.request.urlopen(urllib.request.Request(url, method=method, data=body, headers=headers))
def put_blob(body):
    digest = "sha256:" + hashlib.sha256(body).hexdigest()
    place = ask("POST", "blobs/uploads/", b"").headers["Location"]
    ask("PUT", place + ("&" if "?" in place else "?") + "digest=" + digest, body, **{"Content-Type": "application/octet-stream"})
    return digest
tags = sorted(json.load(ask("GET", "tags/list"))["tags"])
whole = {tag: json.load(ask("GET", "manifests/" + tag, Accept=TYPE)) for tag in tags}
for tag, manifest in whole.items():
    if what == "swap":
        others = [other for other in tags if other[:4] == tag[:4] and other != tag]
        manifest = whole[others[0]]
    else:
        envelope = json.load(ask("GET", "blobs/" + manifest["config"]["digest"]))
        if what == "unsign":
            envelope["signatures"] = []
        else:
            payload = json.loads(base64.b64decode(envelope["payload"]))
            payload["host"] = "elsewhere"
            envelope["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
        body = json.dumps(envelope).encode()
        manifest["config"].update(digest=put_blob(body), size=len(body))
    ask("PUT", "manifests/" + tag, json.dumps(manifest).encode(), **{"Content-Type": TYPE})
END
}
cp -r registry whole-registry
for what in swap unsign change; do
  tampered $what
  runner reader "$what" "${one[@]}"
  equals "$(fetched)" 0
  [ "$(ran)" -gt 0 ] || fail "nothing was run: $what"
  case $what in
    swap) holds "$err" 'it is of another: ' ;;
    *) holds "$err" 'no key that the site file trusts has signed it; it is run here' ;;
  esac
  same_images "$what"
  stop_registry
  rm -rf registry && cp -r whole-registry registry
  start_registry
done

# 4. A layer that is cut, or gone, in the registry's own store: the next runner makes it.
find registry/docker/registry/v2/blobs -name data -size +20k -exec truncate -s -1 {} +
runner reader cut "${one[@]}"
[ "$(ran)" -gt 0 ] || fail 'a cut layer was believed'
holds "$err" 'is not taken from '
same_images cut
stop_registry
rm -rf registry && cp -r whole-registry registry

# 5. A registry that is away, and one that dies while it is asked; what was made meanwhile is given away later.
runner writer away "${one[@]}"
equals "$(fetched)" 0
holds "$err" 'for 10 minutes no step is looked for there'
[ "$(grep -c 'no step is looked for' "$work/.err")" = 1 ] || fail 'each step waits for the registry'
same_images away
rm -rf registry
start_registry
runner writer away version=2.10 library=none method=distro
runner reader later "${one[@]}"
equals "$(ran)" 0
same_images later
(sleep 0.3 && kill -KILL "$registry") &
runner reader dying
same_images dying
wait
registry=
start_registry

# 6. Two at once.
rm -rf registry/docker
KILN_SITE=$work/writer.json "$KILN" --state twin-1 build -f tiny/tiny.json "${one[@]}" >twin-1.out 2>&1 &
twin=$!
runner writer twin-2 "${one[@]}"
wait $twin || { cat twin-1.out && fail 'the other of two at once failed'; }
same_images twin-1
same_images twin-2
runner reader after "${one[@]}"
equals "$(ran)" 0

# 7. Other bits under one key are a loud word, and no failure.
SOURCE_DATE_EPOCH=400000000 runner alone other version=2.1 library=none compiler=none
runner writer other "${one[@]}"
holds "$err" 'WARNING: '
holds "$err" "has other bits in $host/ai/steps than here"

# 8. A folder that only this user writes to, and one that others may write to.
mkdir -m 755 folder
site_file folder "{\"folder\": \"$work/folder\", \"private\": true}"
runner folder first-in-folder "${one[@]}"
runner folder second-in-folder "${one[@]}"
equals "$(ran)" 0
same_images second-in-folder
chmod g+w folder/steps/*.json
runner folder third-in-folder "${one[@]}"
equals "$(fetched)" 0
holds "$err" 'its record there may be written by its group'
same_images third-in-folder

# 9. What nobody has used goes by age; a registry that refuses to delete says so.
site_file aged "{\"folder\": \"$work/folder\", \"private\": true, \"keep_for\": \"1s\"}"
sleep 2
KILN_SITE=$work/aged.json expect 0 "$KILN" --state second-in-folder gc --shared-steps
records=$(find folder/steps -name '*.json' | wc -l)
holds "$out" "$records of $records shared steps not used for"
KILN_SITE=$work/aged.json expect 0 "$KILN" --state second-in-folder gc --shared-steps --delete
equals "$(find folder/steps -name '*.json' | wc -l)" 0
KILN_SITE=$work/alone.json expect 3 "$KILN" --state second-in-folder gc --shared-steps
site_file aged "{\"registry\": \"$shared\", \"key\": \"$work/site.pem\", \"keep_for\": \"1s\"}"
KILN_SITE=$work/aged.json expect 6 "$KILN" --state second-in-folder gc --shared-steps --delete
holds "$err" 'refuses to delete'
