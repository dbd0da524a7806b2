#!/usr/bin/env bash
# A base to build on and one to run on, and a part that is installed out of a bind mount of the build stage: built by kiln, by the
# real buildah from the Dockerfile, and by the real Apptainer. The files are the same, and no layer has the part or the build's base.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
export LC_ALL=C
sent=$(mktemp -d) # and not $1: apptainer build --fakeroot mounts something of its own over /root
chmod 755 "$sent"
trap 'unmount_all; rm -rf "$sent"' EXIT
cp -r "$tiny" tiny
edit 's/"versions": {"1.35": {}}/"versions": {"1.35": {"build_on": "1.35-devel"}, "1.35-devel": {}}/' tiny/recipes/base/busybox/recipe.json
hello=tiny/recipes/framework/hello
edit 's#"copy": \["/opt/kiln/hello"\]#"mount": ["/opt/kiln/parts", "/srv/built-on"]#' $hello/recipe.json
edit 's#"parameters": \["KILN_VERSION", "KILN_FACT_GREETING", "KILN_PREFIX", #"script": "install.sh", &#' $hello/recipe.json
cat >$hello/build.sh <<'END'
#!/bin/sh -eu
mkdir -p /opt/kiln/parts /usr/src/hello /srv
cp hello /opt/kiln/parts/hello
. /etc/os-release
echo "$VERSION_ID" >/srv/built-on
END
cat >$hello/install.sh <<'END'
#!/bin/sh -eu
mkdir -p "$KILN_PREFIX/bin"
cp /opt/kiln/parts/hello "$KILN_PREFIX/bin/hello"
chmod 755 "$KILN_PREFIX/bin/hello"
cp /srv/built-on "$KILN_PREFIX/built-on"
printf '%s\n' "$KILN_VERSION" >"$KILN_PREFIX/version"
printf '%s\n' "$KILN_FACT_GREETING" >"$KILN_PREFIX/greeting"
END
cell='hello:2.10-source-*'

# 1. kiln: the steps of both bases, and of the part no trace in a layer.
expect 0 "$KILN" build -f tiny/tiny.json "$cell"
expect 0 "$KILN" publish -f tiny/tiny.json "$cell"
expect 0 "$KILN" plan -f tiny/tiny.json --format json "$cell"
equals "$(json 'sorted({step["title"] for step in it["steps"].values() if step["kind"] == "rootfs"})')" "['busybox 1.35 (distro)', 'busybox 1.35-devel (distro)']"
layout=$(echo .kiln/images/hello/2.10-source-*)
buildah() { command buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"; }
skopeo copy --quiet "oci:$layout:$(basename "${layout%-*}")" "containers-storage:[vfs@$work/store+$work/run]localhost/of-kiln:1"
of_kiln=$(buildah mount "$(buildah from localhost/of-kiln:1)")
equals "$(cat "$of_kiln/opt/kiln/hello/built-on")" 1.35-devel
grep -qx 'VERSION_ID=1.35' "$of_kiln/etc/os-release"
for blob in "$layout"/blobs/sha256/*; do
  if names=$(tar -tf "$blob" 2>/dev/null); then lacks "$names" kiln/parts && lacks "$names" srv/; fi
done
# shellcheck disable=SC2016 # expanded by the shell that it is given to
listing='cd "$0" && find opt srv 2>/dev/null | sort | xargs ls -ld | sed "s/^\([^ ]*\).* opt/\1 opt/"; find opt -type f | sort | xargs sha256sum'
/bin/sh -c "$listing" "$of_kiln" >kiln.list

# 2. The Dockerfile, by buildah.
expect 0 "$KILN" generate -f tiny/tiny.json -o out "$cell"
folder=$(echo out/hello/2.10-source-*)
holds "$(cat "$folder/Dockerfile")" '--mount=type=bind,from=build-hello,source=/opt/kiln/parts,target=/opt/kiln/parts'
(cd "$folder" && sh rootfs.sh && buildah bud --isolation chroot -t hello . >"$work/bud.log" 2>&1) || { cat bud.log && fail 'buildah bud'; }
of_buildah=$(buildah mount "$(buildah from hello)")
[ ! -s "$of_buildah/srv/built-on" ] || fail 'the part is in the image'
rm -rf "${of_buildah:?}/srv" "$of_buildah/opt/kiln/parts" # older buildahs leave empty places to mount upon
/bin/sh -c "$listing" "$of_buildah" >buildah.list
diff kiln.list buildah.list || fail 'the images of kiln and buildah differ'

# 3. The definition file, by Apptainer; in one file as well.
"$KILN_SOURCE/ci/apptainer" install
apptainer() { "$KILN_SOURCE/ci/apptainer" run "$@" 2>"$work/apptainer.err" || { cat "$work/apptainer.err" && return 1; }; }
cp -r "$folder" "$sent/folder"
(
  cd "$sent/folder"
  chmod -R a+rwX .
  apptainer build --fakeroot image.sif Singularity.def >"$work/apptainer.log" || { cat "$work/apptainer.log" && fail 'apptainer build'; }
  apptainer test image.sif | grep '^hello 2\.1' >/dev/null || fail 'apptainer test'
  apptainer exec image.sif /bin/sh -c "$listing" / >"$work/apptainer.list"
)
grep -v ' srv$' apptainer.list | diff kiln.list - || fail 'the images of kiln and Apptainer differ'
expect 0 "$KILN" generate -f tiny/tiny.json --inline -o alone "$cell"

# 4. A build stage that leaves a link, which would lead out of it, or nothing.
edit 's#^mkdir -p /opt/kiln/parts .*#mkdir -p /opt/kiln /srv; ln -s /etc /opt/kiln/parts#' $hello/build.sh
edit '/parts.hello/d' $hello/build.sh
expect 1 "$KILN" build -f tiny/tiny.json "$cell"
holds "$out$err" 'the build stage left a link at /opt/kiln/parts'
edit 's#; ln -s /etc /opt/kiln/parts##' $hello/build.sh
expect 1 "$KILN" build -f tiny/tiny.json "$cell"
holds "$out$err" 'the build stage left nothing at /opt/kiln/parts'
echo 'built on one base, run on another'
