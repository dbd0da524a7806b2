#!/usr/bin/env bash
# The generated files of one image, built by the real buildah and the real Apptainer, without kiln. Then both images
# must run, prove themselves with their smoke tests, and hold the same files.
#   $1: a private folder; KILN: the program; KILN_SOURCE: the source tree
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d) # and not $1: apptainer build --fakeroot mounts something of its own over /root
tiny=$KILN_SOURCE/tests/data/tiny

fail() {
  echo "FAILED: $1" >&2
  exit 1
}
expect_equal() {
  [ "$1" = "$2" ] || fail "$3: expected '$2', found '$1'"
}

# Layers' folders may be unreadable to all but their owner, and Apptainer's user owns what it wrote.
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

# 1. Generating twice gives the same bytes, one folder an image.
"$KILN" generate -f "$tiny/tiny.json" -o "$work/out" >"$work/folders"
"$KILN" generate -f "$tiny/tiny.json" -o "$work/again" >/dev/null
diff -r "$work/out" "$work/again" || fail 'a second run generates other bytes'
expect_equal "$(wc -l <"$work/folders")" 7 'images'
while IFS= read -r folder; do
  for file in Dockerfile Singularity.def rootfs.sh setup.sh; do
    [ -s "$folder/$file" ] || fail "$folder has no $file"
  done
done <"$work/folders"

# 2. The image with a build stage, as a newcomer builds it.
image=$(echo "$work"/out/hello/2.10-source-turbo-*)
tag=hello:$(basename "$image")
cd "$image"
SOURCE_DATE_EPOCH=0 sh rootfs.sh
sum=$(sha256sum <rootfs.tar)
SOURCE_DATE_EPOCH=0 sh rootfs.sh
expect_equal "$(sha256sum <rootfs.tar)" "$sum" 'the root file system made again'

greeting="hello 2.10 turbo: it's \"\$HOME\" & \`more\`"

# 3. buildah, with a pip configuration handed in, which must not stay.
engine() {
  buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"
}
echo 'secret of the site' >"$work/pip.conf"
engine bud --isolation chroot --secret "id=pip.conf,src=$work/pip.conf" -t "$tag" . >"$work/buildah.log" 2>&1 ||
  { cat "$work/buildah.log" && fail 'buildah bud'; }
container=$(engine from "$tag")
in_image() {
  engine run --isolation chroot "$container" -- "$@"
}
expect_equal "$(in_image /opt/kiln/hello/bin/hello)" "$greeting" 'hello in the image of buildah'
label=$(engine inspect --type image --format '{{index .OCIv1.Config.Labels "io.kiln.framework.version"}}' "$tag")
expect_equal "$label" 2.10 'a label of the Dockerfile'
mounted=$(engine mount "$container")
if grep -rq 'secret of the site' "$mounted"; then fail 'the pip configuration is in the image'; fi
if [ -e "$mounted/usr/src/hello" ]; then fail 'the build stage is in the image of buildah'; fi
# The tests that the Dockerfile's header names, run as it says: the recipe's files read-only beside them.
for component in framework-hello compiler-turbo; do
  engine run --isolation chroot --volume "$image/scripts/$component:/run/kiln/$component:ro" "$container" -- \
    /bin/sh -c "cd /run/kiln/$component && exec /bin/sh -eu smoke.sh" || fail "the smoke test of $component"
done

# 4. Apptainer, which runs as a user of its own here.
"$KILN_SOURCE/ci/apptainer" install
chmod -R a+rwX "$image"
apptainer() {
  "$KILN_SOURCE/ci/apptainer" run "$@" 2>"$work/apptainer.err" || { cat "$work/apptainer.err" && return 1; }
}
apptainer build --fakeroot image.sif Singularity.def >"$work/apptainer.log" ||
  { cat "$work/apptainer.log" && fail 'apptainer build'; }
apptainer test image.sif | grep -xF "turbo is active: $greeting" >/dev/null || fail 'apptainer test does not prove turbo'
expect_equal "$(apptainer exec image.sif /opt/kiln/hello/bin/hello)" "$greeting" 'hello in the image of Apptainer'
# shellcheck disable=SC2016  # expanded in the container
expect_equal "$(apptainer run image.sif /bin/sh -c 'echo "$HELLO_HOME"')" /opt/kiln/hello 'the environment'
apptainer inspect --labels image.sif | grep -xF 'io.kiln.framework.version: 2.10' >/dev/null || fail 'a label of the def file'
expect_equal "$(apptainer exec image.sif ls /.kiln)" tests 'what stays of the build'

# 5. The twins hold the same files, links and modes.
# shellcheck disable=SC2016  # expanded by the shell that it is given to
listing='cd "$0" && find opt | sort | xargs ls -ld | sed "s/^\\([^ ]*\\).* opt/\\1 opt/"
  find opt -type f | sort | xargs sha256sum'
/bin/sh -c "$listing" "$mounted" >"$work/files.buildah"
apptainer exec image.sif /bin/sh -c "$listing" / >"$work/files.apptainer"
diff "$work/files.buildah" "$work/files.apptainer" || fail 'the two images differ'
grep -q '^l.* opt/kiln/hello/lib/libhello.so -> libhello.so.2$' "$work/files.buildah" || fail 'the link became a file'

# 6. Without the root file system the def file says what to do.
rm rootfs.tar
if "$KILN_SOURCE/ci/apptainer" run build --fakeroot none.sif Singularity.def >"$work/none.log" 2>&1; then
  fail 'built without rootfs.tar'
fi
grep -q "rootfs.tar is missing: run 'sh rootfs.sh' first" "$work/none.log" || fail 'no word about rootfs.tar'
engine umount "$container" >/dev/null
engine rm "$container" >/dev/null
echo 'both images are good'
