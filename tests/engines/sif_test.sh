#!/usr/bin/env bash
# The same image converted by kiln and by the real Apptainer: the files and what `apptainer run|exec|shell|test|inspect`
# answer must be equal. Then layers made at random, merged by kiln and by umoci.
#   $1: a private folder; KILN: the program; KILN_SOURCE: the source tree
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d) # and not $1: apptainer build --fakeroot mounts something of its own over /root

fail() {
  echo "FAILED: $1" >&2
  exit 1
}
for tool in buildah skopeo unsquashfs busybox umoci python3; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: no $tool here"; exit 77; }
done
apptainer() { "$KILN_SOURCE/ci/apptainer" run "$@" 2>>"$work/apptainer.log"; }
[ -x "${KILN_APPTAINER_ROOT:-/opt/kiln-apptainer}/usr/bin/apptainer" ] ||
  { echo 'SKIPPED: no Apptainer here; ci/apptainer install'; exit 77; }

chmod 777 "$work"
cd "$work"
trap 'rm -rf "$work"' EXIT

# 1. Two layers: files of all kinds, then whiteouts, a replaced type and a hard link to the layer below.
engine() {
  buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"
}
in_image() { engine run --isolation chroot "$1" -- /bin/sh -c "$2"; }
mkdir -p context/bin context/etc
cp "$(command -v busybox)" context/bin/busybox
for applet in sh ls cat echo env id pwd ln rm mkdir chmod mkfifo test; do ln -s busybox "context/bin/$applet"; done
echo 'root:x:0:0:root:/root:/bin/sh' >context/etc/passwd
echo 'root:x:0:' >context/etc/group
first=$(engine from scratch)
engine add "$first" context / >/dev/null
in_image "$first" 'mkdir -p /data/old /opt/x; echo hi >/data/a; ln /data/a /data/b; ln -s a /data/s; mkfifo /data/p
  echo 1 >/data/old/1; echo x >/opt/x/file; chmod 4755 /opt/x/file; echo gone >/gone'
engine commit "$first" base >/dev/null 2>&1
second=$(engine from base)
in_image "$second" 'rm /gone; rm -r /data/old; echo new >/data/old; rm -r /opt/x; mkdir /opt/x; echo y >/opt/x/y; ln /data/a /data/c'
# shellcheck disable=SC2016  # meant for the image
engine config --env 'GREETING=hello world' --env 'QUOTED=a "b" c' --env PATH=/bin:/opt --workingdir /data --label a.b=c \
  --label 'x=y "z"' --entrypoint '["/bin/echo","ent ry"]' --cmd '["cm d","$HOME"]' "$second"
engine commit "$second" oci-archive:image.tar:latest >/dev/null 2>&1

# 2. Both conversions, and the SIF that kiln made is accepted.
"$KILN" sif oci-archive:image.tar -o kiln.sif
apptainer build --fakeroot apptainer.sif oci-archive:image.tar || { cat apptainer.log; fail 'apptainer build'; }
"$KILN" sif check kiln.sif
"$KILN" sif check apptainer.sif
apptainer sif list kiln.sif | grep 'FS (Squashfs/\*System/' >/dev/null || fail 'sif list does not show the partition'

# 3. The same files: names, kinds, modes, owners, sizes, link targets, contents, times.
offset() { "$KILN" sif list "$1" | awk '$6 == "FS" {print $4}'; }
for name in kiln apptainer; do
  unsquashfs -o "$(offset $name.sif)" -d "files-$name" -no-progress $name.sif >/dev/null
  (cd "files-$name" && find . -path ./.singularity.d -prune -o -printf '%p %y %m %U:%G %n %l\n' | sort) >"list-$name"
  (cd "files-$name" && find .singularity.d -printf '%p %y %m %l\n' | sort) >"runtime-$name"
  (cd "files-$name" && find bin data opt etc/passwd -type f -printf '%p %s %Ts\n' | sort) >"times-$name"
done
sed -i 's/ d \([0-9]*\) \([0-9:]*\) [0-9]* / d \1 \2 - /' list-kiln list-apptainer # file systems count folders' links as they like
for list in list runtime times; do
  diff "$list-apptainer" "$list-kiln" || fail "the $list differs"
done
for path in bin data opt etc; do
  diff -r --no-dereference --exclude=p "files-apptainer/$path" "files-kiln/$path" || fail "contents of /$path differ"
done

# 4. The same answers. Labels of the build itself and the scripts' own text may differ, and so does a value with quotes:
# Apptainer escapes it twice, kiln gives what the image says.
same() {
  apptainer "${@/IMAGE/apptainer.sif}" >answer-apptainer || fail "apptainer $* with its own image"
  apptainer "${@/IMAGE/kiln.sif}" >answer-kiln || fail "apptainer $* with kiln's image"
  sed -i -e '/^APPTAINER_\|^SINGULARITY_\|_NAME=\|^QUOTED=/d' -e '/build-date\|usage\.apptainer\|usage\.kiln/d' answer-apptainer answer-kiln
  diff answer-apptainer answer-kiln || fail "apptainer $*"
}
same run IMAGE
same run IMAGE one 'two  words' '*'
same exec IMAGE env
same exec IMAGE pwd
same exec IMAGE /bin/ls -l /data/
same exec --pwd /data IMAGE /bin/cat a c old
# shellcheck disable=SC2016  # meant for the container
same shell IMAGE -c 'echo "$GREETING"; echo "$LD_LIBRARY_PATH"'
apptainer test kiln.sif >/dev/null || fail 'apptainer test'
same inspect IMAGE
same inspect --deffile IMAGE
same inspect --labels --json IMAGE
# shellcheck disable=SC2016
[ "$(apptainer exec kiln.sif /bin/sh -c 'echo "$QUOTED"')" = 'a "b" c' ] || fail 'a quoted value of the environment'

# 5. The kernel reads it too, where it may.
mkdir -p mounted
if mount -o "ro,loop,offset=$(offset kiln.sif)" -t squashfs kiln.sif mounted 2>/dev/null; then
  diff -r --no-dereference --exclude=p mounted/data files-kiln/data || fail 'mounted by the kernel'
  umount mounted
else
  echo 'note: no loop mount here'
fi

# 6. The same bits whatever is around.
SOURCE_DATE_EPOCH=1000 "$KILN" sif oci-archive:image.tar -o one.sif --reproducible --jobs 1
(umask 077 && cd / && TZ=Asia/Tokyo LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=1000 "$KILN" sif "oci-archive:$work/image.tar" -o "$work/two.sif" \
  --reproducible --jobs 3)
cmp one.sif two.sif || fail 'two reproducible conversions differ'

# 7. Signatures: what kiln signs Apptainer verifies, and the other way round.
export GNUPGHOME=$work/keys
mkdir -m 700 "$GNUPGHOME"
trap 'gpgconf --kill all; rm -rf "$work"' EXIT
gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key 'Factory <factory@example.org>' ed25519 sign never
gpg --batch --armor --export factory >factory.asc
"$KILN" sif sign kiln.sif --key factory -o signed.sif
"$KILN" sif verify signed.sif | grep '^signed.sif: good signature by Factory <factory@example.org>' >/dev/null || fail 'kiln sif verify'
export APPTAINER_KEYSDIR=$work/apptainer-keys
mkdir -m 700 "$APPTAINER_KEYSDIR"
chown 1500 "$APPTAINER_KEYSDIR" # the user of ci/apptainer
apptainer key import "$work/factory.asc" || { cat apptainer.log; fail 'apptainer key import'; }
apptainer verify --local "$work/signed.sif" || { cat apptainer.log; fail 'apptainer verify'; }
apptainer key newpair --name Site --email site@example.org --comment test --password '' --push=false >/dev/null ||
  { cat apptainer.log; fail 'apptainer key newpair'; }
apptainer sign --keyidx 0 apptainer.sif || { cat apptainer.log; fail 'apptainer sign'; }
"$KILN" sif verify apptainer.sif --keyring "$APPTAINER_KEYSDIR/pgp-public" | grep 'good signature by Site' >/dev/null || fail "kiln does not accept Apptainer's signature"

# 8. Layers made at random.
python3 "$KILN_SOURCE/tests/engines/sif_differential.py" "$work/random" "${KILN_CASES:-400}"
echo "OK: kiln's SIF and Apptainer's are alike"
