#!/usr/bin/env bash
# Names of the site's own: image indexes over platforms, moved last, by which skopeo pulls the right image.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
# shellcheck source=tests/support/secure_registry.sh
. "$KILN_SOURCE/tests/support/secure_registry.sh"
start_registry
place=$host/site/ai

# Two platforms, one of which is so by its name alone: kiln takes this machine for one with QEMU, and runs what is this machine's own.
[ -d /proc/sys/fs/binfmt_misc ] || { echo 'SKIPPED: no place for the handlers of other processors'; exit 77; }
with_qemu() {
  # shellcheck disable=SC2016 # for the inner shell
  unshare -m sh -c 'mount -t tmpfs none /proc/sys/fs/binfmt_misc && printf "enabled\nflags: F\n" >/proc/sys/fs/binfmt_misc/qemu-aarch64 && exec "$@"' sh "$@"
}
cp -r "$tiny" tiny
edit 's/"target": \["plain"\]/"target": ["plain", "neoverse_v1"]/' tiny/tiny.json
write_site() { # write_site ALIASES
  echo "{\"evidence\": \"report\", \"publish\": {\"registry\": \"$place\", \"aliases\": [$1]}}" >site.json
}
some=(version=2.10 library=fast compiler=none)
write_site ''
expect 0 with_qemu "$KILN" build -f tiny/tiny.json version=2.10 compiler=none
publish() { # publish STATUS [PATTERN OR OPTION…]
  local wanted=$1
  shift
  expect "$wanted" "$KILN" publish -f tiny/tiny.json "$@"
}
digest_of() { # digest_of ARCHITECTURE: of the image with library fast
  "$KILN" index list '*-fast-*' --format json | "$KILN_PYTHON" -c '
import json, sys
cpu = {"amd64": "x86_64", "arm64": "neoverse_v1"}[sys.argv[1]]
print(*[one["manifest"] for one in json.load(sys.stdin) if one["cpu"] == cpu])' "$1"
}
pulled() { # pulled ARCHITECTURE NAME: the digest that somebody of that architecture gets
  rm -rf pulled
  skopeo copy --quiet --override-arch "$1" "docker://$place/$2" oci:pulled:image || fail "skopeo does not pull $2"
  skopeo inspect --override-arch "$1" --format '{{.Digest}}' oci:pulled:image
}

# 1. One name, an image a platform; in a repository of its own as well, whose blobs nobody sends twice.
write_site '{"name": "hello:fast", "images": ["hello:2.10-*-fast-*"]}, {"name": "modak/images:2.10-cpu-src", "images": ["*-fast-*"]},
  {"name": "modak/images:none", "images": ["version=7*"]}'
publish 0 "${some[@]}"
holds "$out" '2 images pushed'
holds "$out" '4 tags moved'
holds "$err" 'modak/images:none: no image of the index is meant'
for name in hello:fast modak/images:2.10-cpu-src; do
  for architecture in amd64 arm64; do
    equals "$(pulled "$architecture" "$name")" "$(digest_of "$architecture")"
  done
done
[ "$(digest_of amd64)" != "$(digest_of arm64)" ] || fail 'one image for both'
equals "$(skopeo inspect --raw "docker://$place/hello:fast" | sha256sum)" "$(skopeo inspect --raw "docker://$place/modak/images:2.10-cpu-src" | sha256sum)"

# 2. Nothing new: nothing is moved, nothing pushed.
publish 0 "${some[@]}"
holds "$out" '0 images pushed (0 blobs, 0.0 MB), 2 unchanged, 0 tags moved'

# 3. Two images of one platform: both are named, the rest goes on.
write_site '{"name": "hello:any", "images": ["version=2.10"]}, {"name": "hello:quick", "images": ["*-fast-*"]}'
publish 3 version=2.10 library=none compiler=none
holds "$out" 'left hello:any: hello:2.10-distro-'
holds "$out" ' are both for linux/a'
holds "$err" '1 alias of the site file is not clear, and left as it is'
equals "$(pulled arm64 hello:quick)" "$(digest_of arm64)"
! skopeo inspect "docker://$place/hello:any" >/dev/null 2>&1 || fail 'an alias that is not clear was made'

# 4. What is wrong with it is said before anything is asked.
write_site '{"name": "hello:any", "images": ["taget=zen3"]}'
publish 3 "${some[@]}"
holds "$err" "site.json: error: no key of images is called 'taget' (at /publish/aliases/0/images); did you mean 'target'?"

# 5. What somebody else has moved is left; --take-tags moves it. An image's own name is none of the site's.
own=$("$KILN" index list '*-fast-*' target=x86_64 --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["name"])')
skopeo copy --quiet --override-arch amd64 "docker://$place/$own" "docker://$place/hello:taken"
write_site "{\"name\": \"hello:taken\", \"images\": [\"*-fast-*\"]}, {\"name\": \"$own\", \"images\": [\"*-fast-*\"]}"
publish 7 "${some[@]}"
holds "$out" "left $place/hello:taken: it names $(digest_of amd64), and kiln has never moved it"
holds "$out" "left $own: it is the name of an image itself"
write_site '{"name": "hello:taken", "images": ["*-fast-*"]}'
publish 0 "${some[@]}" --take-tags
equals "$(pulled arm64 hello:taken)" "$(digest_of arm64)"

# 6. Killed before the name moves: the next publication moves it.
"$KILN_PYTHON" - <<'PY'
lines = [line for line in open(".kiln/pushed.jsonl") if "hello:taken" not in line]
open(".kiln/pushed.jsonl", "w").writelines(lines)
PY
publish 0 "${some[@]}"
holds "$out" '0 tags moved' # it names the right images already, and is known from now on
holds "$(cat .kiln/pushed.jsonl)" 'hello:taken'
echo "aliases: hello:fast is $(digest_of amd64) and $(digest_of arm64)"
