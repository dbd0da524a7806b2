#!/usr/bin/env bash
# Each build packages a SIF beside the OCI image: checked, not made twice, shown by publish, chosen by select.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
command -v unsquashfs >/dev/null || { echo 'SKIPPED: no unsquashfs here'; exit 77; }

cp -r "$tiny" tiny
matrix=tiny/tiny.json
state=$work/.kiln
build() { expect 0 "$KILN" build -f "$matrix" --format json "$@"; }
query() { # query VERSION [REST]
  printf '{"optimisation": {"enable_opt_build": false%s, "app_type-ai_training": {"config": {"ai_framework": "hello"}, "ai_framework-hello": {"version": "%s"}}}}' \
    "${2:-}" "$1"
}
blob_of() { # blob_of IMAGE: of its SIF, in the store
  "$KILN" index show "$1" | "$KILN_PYTHON" -c '
import json, sys
for attachment in json.load(sys.stdin).get("attachments", []):
    if attachment["kind"] == "sif":
        digest = attachment["blob"]["digest"].split(":")[1]
        print(f"store/sha256/{digest[:2]}/{digest}")'
}

# 1. Every image has one, and it is the image: the same files as the layout converted by hand, bit for bit.
build -j 2
equals "$(json 'it["built"]')" 7
expect 0 "$KILN" publish -f "$matrix"
[ "$(find -L .kiln/sif -name 'hello_*.sif' -type f | wc -l)" = 7 ] || fail 'not every image has a SIF'
for file in .kiln/sif/*.sif; do
  "$KILN" sif check "$file" >/dev/null || fail "$file is not whole"
done
image=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["name"])')
file=.kiln/sif/${image/:/_}.sif
[ "$(stat -L -c %i "$file")" = "$(stat -c %i ".kiln/$(blob_of "$image")")" ] || fail 'the link leads elsewhere'
expect 0 "$KILN" sif "$image" -o by-hand.sif --reproducible
cmp by-hand.sif "$file" || fail 'kiln sif and the build make different files'
offset=$("$KILN" sif list "$file" | awk '$6 == "FS" {print $4}')
unsquashfs -o "$offset" -d files -no-progress "$file" >/dev/null
[ -x files/.singularity.d/runscript ] || fail 'no runscript'
expect 0 "$KILN" index show "$image"
equals "$(json 'it["sif"]')" "$state/sif/${image/:/_}.sif"

# 2. Nothing is converted twice: packaged again, the same blob and not a new file.
inode=$(stat -L -c %i "$file")
rm -r .kiln/built
build
equals "$(json 'it["built"]')" 7
equals "$(stat -L -c %i "$file")" "$inode"
# … but when the blob is gone, it is made again, with the same bits.
rm -r .kiln/built ".kiln/$(blob_of "$image")"
build
cmp by-hand.sif ".kiln/$(blob_of "$image")" || fail 'the SIF made again has other bits'

# 3. select answers with the file; $SINGULARITY_DIR names it elsewhere; the document may ask for it as well.
query 2.1 >query.json
expect 0 "$KILN" select --dsl query.json --format sif
[ -f "$out" ] || fail "select names no file: $out"
case $out in "$state"/sif/hello_2.1-*.sif) ;; *) fail "select answers $out" ;; esac
query 2.1 ', "format": "sif"' >asks-for-sif.json
expect 0 "$KILN" select --dsl asks-for-sif.json
[ -f "$out" ] || fail "the document's format is passed over: $out"
expect 0 env SINGULARITY_DIR=/images "$KILN" select --dsl query.json --format sif
case $out in /images/hello_2.1-*.sif) ;; *) fail "with SINGULARITY_DIR: $out" ;; esac
expect 0 "$KILN" select --dsl query.json --format sif --json
holds "$(json 'it["answer"]')" "$state/sif/hello_2.1"

# 4. A site without SIF: images have none, select says so and exits with 4, oci still answers.
echo '{"formats": ["oci"]}' >oci.json
expect 0 "$KILN" build -f "$matrix" --site oci.json --state plain
[ ! -e plain/conversions ] || fail 'a SIF was made against the site'
expect 0 "$KILN" publish -f "$matrix" --state plain
[ ! -e plain/sif ] || fail 'a folder of SIF files without any'
expect 4 "$KILN" select --dsl query.json --format sif --state plain
holds "$err" 'asks for a SIF; this image was packaged without'
expect 4 "$KILN" select --dsl query.json --format sif --state plain --explain
holds "$out" 'asks for a SIF; this image was packaged without'
expect 0 "$KILN" select --dsl query.json --format oci --state plain
# The site wants one now: the plan says so; packaged again, nothing else runs, and after publish it is there.
expect 0 "$KILN" plan -f "$matrix" --site oci.json --state plain
holds "$out" '7 images: 7 built, 0 to build; 2 excluded'
expect 0 "$KILN" plan -f "$matrix" --state plain
holds "$out" '7 images: 0 built, 0 to build, 7 to package; 2 excluded'
holds "$out" 'the site file requests a SIF, which this image lacks: nothing is built'
expect 0 "$KILN" plan -f "$matrix" --state plain --format json library=none
equals "$(json '{cell["state"] for cell in it["cells"]}')" "{'to package'}"
equals "$(json '{step["state"] for step in it["steps"].values()}')" "{'done'}"
expect 0 "$KILN" build -f "$matrix" --state plain --dry-run
equals "$(tail -n 1 <<<"$out")" '0 steps and tests, 7 images'
expect 0 "$KILN" build -f "$matrix" --state plain --format json
equals "$(json '(it["built"], it["failed"])')" '(7, 0)'
if grep '^start' <<<"$err" | grep -v '^start  image '; then fail 'something else than the packaging ran'; fi
expect 0 "$KILN" build -f "$matrix" --state plain
holds "$out" 'nothing to do'
expect 0 "$KILN" build -f "$matrix" --state plain --dry-run
equals "$out" 'nothing to do'
expect 0 "$KILN" plan -f "$matrix" --state plain
holds "$out" '7 images: 7 built, 0 to build; 2 excluded'
expect 0 "$KILN" publish -f "$matrix" --state plain
expect 0 "$KILN" select --dsl query.json --format sif --state plain
[ -f "$out" ] || fail 'no SIF after the site asked for one'

# 5. Links move with the snapshot, and back.
before=$(readlink .kiln/sif/*turbo*.sif | sort)
echo 'echo more >>/opt/kiln/turbo.more' >>tiny/recipes/compiler/turbo/distro.sh
build
equals "$(readlink .kiln/sif/*turbo*.sif | sort)" "$before" # not before publish
expect 0 "$KILN" publish -f "$matrix"
[ "$(readlink .kiln/sif/*turbo*.sif | sort)" != "$before" ] || fail 'publish left the old SIF'
expect 0 "$KILN" index rollback 1
equals "$(readlink .kiln/sif/*turbo*.sif | sort)" "$before"

# 6. A disk that lies: one byte of the SIF arrives changed. Nothing is published, the other images are untouched.
cat >liar.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
/* Flips a bit of the first large block that goes to the SIF. */
static ssize_t lie(const char *name, int fd, const void *bytes, size_t size, off_t offset) {
  ssize_t (*real)(int, const void *, size_t, off_t) = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, name);
  char path[64] = "/proc/self/fd/", target[4096] = "";
  char digits[16];
  int count = 0, number = fd;
  do { digits[count++] = (char)('0' + number % 10); number /= 10; } while (number > 0);
  char *end = path + strlen(path);
  while (count > 0) *end++ = digits[--count];
  *end = 0;
  if (readlink(path, target, sizeof target - 1) < 0 || strstr(target, ".kiln-sif-") == NULL || size < 20000 || offset < 40000)
    return real(fd, bytes, size, offset);
  char *changed = malloc(size);
  memcpy(changed, bytes, size);
  changed[size / 2] ^= 4;
  ssize_t written = real(fd, changed, size, offset);
  free(changed);
  return written;
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) { return lie("pwrite", fd, bytes, size, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) { return lie("pwrite64", fd, bytes, size, offset); }
END
cc -shared -fPIC -O1 -o liar.so liar.c -ldl
rm -r .kiln/built .kiln/conversions
blobs=$(find .kiln/store/sha256 -type f | sort)
expect 8 env LD_PRELOAD="$work/liar.so" "$KILN" build -f "$matrix" --format json
equals "$(json 'it["built"]')" 0
holds "$out" 'the SIF that was written'
[ ! -e .kiln/conversions ] || [ -z "$(ls .kiln/conversions)" ] || fail 'a bad SIF was recorded'
equals "$(find .kiln/store/sha256 -type f | sort)" "$blobs"
build
equals "$(json 'it["failed"]')" 0
for file in .kiln/sif/*.sif; do
  "$KILN" sif check "$file" >/dev/null || fail "$file is not whole"
done
echo "SIF as a packaging step: all as promised"
