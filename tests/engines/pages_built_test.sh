#!/usr/bin/env bash
# The page of an image that was really built: its documents, its definition files, and what is said where they are gone or damaged.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
cp -r "$tiny" tiny
cell=hello-2.10-distro-fast-turbo-plain-busybox_1.35
name=hello:2.10-distro-fast-turbo-x86_64-busybox1.35
page=pages/images/hello/2.10-distro-fast-turbo-x86_64-busybox1.35.html
text_of() { "$KILN_PYTHON" -c 'import html, re, sys; print(html.unescape(re.sub("<[^>]*>", "", open(sys.argv[1]).read())))' "$1"; }
on_page() { text_of "$page" | grep -F -- "$1" >/dev/null || fail "the page has no '$1'"; }

expect 0 "$KILN" build -f tiny/tiny.json "$cell"
expect 0 "$KILN" publish -f tiny/tiny.json "$cell"
expect 0 "$KILN" index export --html pages
expect 0 "$KILN_PYTHON" -B "$KILN_SOURCE/tests/cli/index_export_pages.py" pages 1

# 1. Its definition files are those that `kiln generate` writes.
"$KILN" generate -f tiny/tiny.json --format dockerfile "$cell" >Dockerfile
"$KILN" generate -f tiny/tiny.json --format singularity "$cell" >Singularity.def
text_of "$page" >page.txt
"$KILN_PYTHON" - <<'PY' || fail 'the page has other definition files'
page = open("page.txt").read()
for name in ("Dockerfile", "Singularity.def"):
    assert open(name).read().strip() in page, name
PY
# 2. What is in it, how it was made, where it was tested.
for words in 'All 4 packages' 'GPL-2.0-only' 'The steps that made it' 'turbo 1.0 (distro)' "$(uname -n)" 'conforms' \
  "kiln generate -f matrix/tiny.json -o out $cell" "apptainer exec .kiln/sif/hello_2.10-distro-fast-turbo-x86_64-busybox1.35.sif" "kiln inspect $name --sbom spdx"; do
  on_page "$words"
done
# 3. Its commands are those of the engines that are here, in a storage of their own.
run=$(mktemp -d /tmp/kiln-pages-XXXXXX) # podman refuses long paths of its run root
at_exit "rm -rf '$run'"
storage="[vfs@$work/storage+$run]"
command_of() { # command_of ENGINE: its lines
  "$KILN_PYTHON" - "$page" "$1" <<'PY'
import html, re, sys
print(html.unescape(re.search(f"<figcaption>{sys.argv[2]}</figcaption><pre><code>(.*?)</code>", open(sys.argv[1]).read(), re.S)[1]))
PY
}
podman() { command podman --root "$work/storage" --runroot "$run" --storage-driver vfs "$@"; }
command_of Podman >podman.sh
expect 0 bash -c "$(head -n 1 podman.sh | sed "s|containers-storage:|containers-storage:$storage|")"
holds "$(tail -n 1 podman.sh)" "podman run --rm localhost/$name cat /etc/os-release"
expect 0 podman image exists "localhost/$name"
command_of Sarus >sarus.sh
expect 0 bash -c "$(head -n 2 sarus.sh)"
expect 0 skopeo inspect --config docker-archive:hello.tar
holds "$out" 'io.kiln.cell'

# 4. A plan that has moved on does not know it any more, and a document that is damaged takes nothing else with it.
echo ': changed' >>tiny/recipes/library/fast/distro.sh
expect 0 "$KILN" plan -f tiny/tiny.json --format json
expect 0 "$KILN" build -f tiny/tiny.json "$cell"
blob=$("$KILN" index show "$name" | "$KILN_PYTHON" -c 'import json, sys; print(next(one["blob"]["digest"][7:] for one in json.load(sys.stdin)["attachments"] if one["kind"] == "spdx"))')
file=$(find .kiln/store -name "*$blob*" -type f | head -n 1)
printf 'x' | dd of="$file" bs=1 seek=100 conv=notrunc status=none
expect 0 "$KILN" index export --html pages
on_page 'The definition files are not kept with this image.'
on_page "The bill of materials could not be read: sha256:$blob is damaged or gone"
lacks "$(cat "$page")" "$work"
on_page 'The steps that made it'
expect 0 "$KILN_PYTHON" -B "$KILN_SOURCE/tests/cli/index_export_pages.py" pages 1
echo 'the page of an image that was built says what its documents say'
