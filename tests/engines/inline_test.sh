#!/usr/bin/env bash
# The two files of `kiln generate --inline`, each sent alone to an empty folder: the real buildah and the real Apptainer build them
# there, the tests of the cell pass, and the images hold the files that the form with a build context gives.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
export LC_ALL=C
sent=$(mktemp -d) # and not $1: apptainer build --fakeroot mounts something of its own over /root
chmod 755 "$sent"
trap 'unmount_all; rm -rf "$sent"' EXIT
cp -r "$tiny" tiny
# What no heredoc and no line of a Dockerfile takes as it is; the image holds it.
cat >tiny/recipes/framework/hello/odd.txt <<'END'
%post

  %files of nobody
Bootstrap: docker
KILN
{{ name }} and {{{{
it's "$HOME" `id` \
# no comment

	a tab, and é
EOF
END
printf 'no line end' >>tiny/recipes/framework/hello/odd.txt
edit 's/"files": \["hello"\]/"files": ["hello", "odd.txt"]/' tiny/recipes/framework/hello/recipe.json
for script in build distro; do echo 'cp odd.txt /opt/kiln/hello/odd.txt' >>tiny/recipes/framework/hello/$script.sh; done

# 1. One file each, the same bytes a second time; one can be printed.
cells=('hello:2.10-source-turbo-*' 'hello:2.1-distro-fast-*')
expect 0 "$KILN" generate -f tiny/tiny.json --inline -o out "${cells[@]}"
equals "$(wc -l <<<"$out")" 4
expect 0 "$KILN" generate -f tiny/tiny.json --inline -o again "${cells[@]}"
diff -r out again || fail 'a second run generates other bytes'
expect 0 "$KILN" generate -f tiny/tiny.json --inline --format singularity "${cells[1]}"
equals "$out" "$(cat out/hello_2.1-distro-fast-*.def)"
expect 0 "$KILN" generate -f tiny/tiny.json -o folder "${cells[@]}"

# 2. Nothing new for the linter; an import knows whose they are.
expect 0 "$KILN" lint out/*
holds "$err" '4 files: 0 errors, 0 warnings, 0 notes'
expect 3 "$KILN" import out -o imported
holds "$err" 'kiln itself generated all 4 files'

engine() { buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"; }
bud() { engine bud --isolation chroot "$@" >"$work/bud.log" 2>&1 || { cat "$work/bud.log" && fail "buildah bud $*"; }; }
# Names, modes, links and contents.
# shellcheck disable=SC2016 # expanded by the shell that it is given to
listing='cd "$0" && find opt | sort | xargs ls -ld | sed "s/^\([^ ]*\).* opt/\1 opt/"; find opt -type f | sort | xargs sha256sum'
apptainer() { "$KILN_SOURCE/ci/apptainer" run "$@" 2>"$work/apptainer.err" || { cat "$work/apptainer.err" && return 1; }; }
"$KILN_SOURCE/ci/apptainer" install

for name in "$(basename "$(echo out/*-source-turbo-*.def)" .def)" "$(basename "$(echo out/*2.1-distro-fast-*.def)" .def)"; do
  image=${name/_/:}
  # 3. The form with a build context.
  (cd "folder/${name/_//}" && sh rootfs.sh && bud -t "folder-$image" .)
  mounted=$(engine mount "$(engine from "folder-$image")")
  /bin/sh -c "$listing" "$mounted" >folder.list

  # 4. The Dockerfile alone, as its first lines say.
  mkdir "$sent/$name"
  cp "out/$name.Dockerfile" "$sent/$name"
  (
    cd "$sent/$name"
    first=$(sed -n 's/^#   \(sed .*| sh\) .*/\1/p' ./*.Dockerfile)
    [ -n "$first" ] || fail 'the header does not say how to make the root file system'
    sh -euc "$first"
    equals "$(find . -type f | sort | xargs)" "./$name.Dockerfile ./rootfs.tar"
    cmp rootfs.tar "$work/folder/${name/_//}/rootfs.tar"
    bud -t "$image" -f "$name.Dockerfile" .
    bud --target kiln-test -t tested -f "$name.Dockerfile" .
  )
  grep '^hello 2\.1' bud.log >tested.out || { cat bud.log && fail 'the tests did not run'; }
  mounted=$(engine mount "$(engine from "$image")")
  /bin/sh -c "$listing" "$mounted" >one.list
  diff folder.list one.list || fail "$name: buildah's two images differ"
  [ ! -e "$mounted/kiln" ] || fail 'the scripts are in the image'
  equals "$(engine inspect --type image --format '{{.OCIv1.RootFS.DiffIDs | len}}' "$image")" \
    "$(engine inspect --type image --format '{{.OCIv1.RootFS.DiffIDs | len}}' "folder-$image")"
  equals "$(engine inspect --type image --format '{{.OCIv1.Config.Labels}}{{.OCIv1.Config.Env}}{{.OCIv1.Config.Cmd}}' "$image")" \
    "$(engine inspect --type image --format '{{.OCIv1.Config.Labels}}{{.OCIv1.Config.Env}}{{.OCIv1.Config.Cmd}}' "folder-$image")"
  cmp "$mounted/opt/kiln/hello/odd.txt" tiny/recipes/framework/hello/odd.txt

  # 5. The definition file alone.
  rm -r "${sent:?}/$name"
  mkdir "$sent/$name"
  cp "out/$name.def" "$sent/$name"
  (
    cd "$sent/$name"
    sh -euc "$(sed -n 's/^#   \(sed .*| sh\) .*/\1/p' ./*.def)"
    chmod -R a+rwX .
    apptainer build --fakeroot image.sif "$name.def" >"$work/apptainer.log" || { cat "$work/apptainer.log" && fail 'apptainer build'; }
    apptainer test image.sif | grep '^hello 2\.1' >/dev/null || fail 'apptainer test'
    apptainer exec image.sif /bin/sh -c "$listing" / >"$work/apptainer.list"
    equals "$(apptainer exec image.sif ls /.kiln)" tests
  )
  diff one.list apptainer.list || fail "$name: the images of buildah and Apptainer differ"
done

# 6. What nobody can read or send is refused by name and size, and nothing is written.
head -c 70000 /dev/zero | tr '\0' x >tiny/recipes/framework/hello/odd.txt
expect 3 "$KILN" generate -f tiny/tiny.json --inline -o none "${cells[0]}"
holds "$err" 'scripts/framework-hello/odd.txt (70000 bytes) does not fit into one file: files of up to 65536 bytes do'
printf 'ELF\0\1' >tiny/recipes/framework/hello/odd.txt
expect 3 "$KILN" generate -f tiny/tiny.json --inline -o none "${cells[0]}"
holds "$err" 'scripts/framework-hello/odd.txt (5 bytes) does not fit into one file: it is no plain text: see its byte 4'
[ ! -e none ] || fail 'something was written'
echo 'both files build alone'
