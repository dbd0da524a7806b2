#!/usr/bin/env bash
# kiln inspect on folders: verdicts, exit codes and the two formats, without any engine.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
[ "$(uname -m)" = x86_64 ] || exit 77

mkdir -p root/opt
printf 'void f(float *x, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1; }\n' >f.c
gcc -O3 -shared -fPIC -march=skylake-avx512 -mprefer-vector-width=512 -o root/opt/libf.so f.c

expect 1 "$KILN" inspect dir:root --evidence --target broadwell
holds "$out" 'exceeds'
holds "$out" '/opt/libf.so: avx512f in f at 0x'
expect 0 "$KILN" inspect dir:root --evidence --target x86_64_v4
holds "$out" 'conforms'
expect 0 "$KILN" inspect dir:root --evidence
holds "$out" 'not judged'
expect 1 "$KILN" inspect dir:root --evidence --target x86_64_v3 --format json --files
equals "$(json 'it["verdict"], it["beyond_target"][0]["symbol"], it["files"][0]["path"], "avx512f" in it["unconditional"]')" \
  'exceeds f /opt/libf.so True'

gcc -O3 -shared -fPIC -o root/opt/libf.so f.c
expect 0 "$KILN" inspect dir:root --evidence --target broadwell
holds "$out" 'not optimised'

# The same question has the same answer, whatever the number of threads.
expect 0 "$KILN" inspect dir:root --evidence --format json --files --jobs 1
first=$out
expect 0 "$KILN" inspect dir:root --evidence --format json --files --jobs 5
equals "$out" "$first"

expect 2 "$KILN" inspect dir:root --evidence --target broadwel
holds "$err" "did you mean 'broadwell'"
expect 2 "$KILN" inspect dir:nowhere --evidence
expect 2 "$KILN" inspect dir:root

# A name that nobody knows.
expect 4 "$KILN" inspect pytorch --evidence
holds "$err" "there is no image 'pytorch': no index with images is in"
holds "$err" ', oci:DIR[:TAG], oci-archive:FILE'
expect 4 "$KILN" sif pytorch:1 -o x.sif
expect 2 "$KILN" inspect dockr://debian:12
expect 3 "$KILN" inspect oci:nowhere

# Documents that somebody else put beside an image.
make() { "$KILN_PYTHON" "$KILN_SOURCE/tests/support/attached_layout.py" "$@" >/dev/null; }
make layout other spdx provenance
make without other spdx
expect 0 "$KILN" inspect oci:layout --provenance
equals "$out" '{"predicateType": "https://slsa.dev/provenance/v1", "subject": []}'
holds "$err" 'kiln did not check its contents'
expect 0 "$KILN" inspect oci:layout --sbom spdx
equals "$(json 'it["name"]')" theirs
expect 0 "$KILN" inspect oci:layout --sbom cyclonedx
equals "$(json 'it["bomFormat"]')" CycloneDX
expect 4 "$KILN" inspect oci:without --provenance
equals "$out" ''
holds "$err" "there is no provenance of 'oci:without'; the referrers of sha256:"
holds "$err" 'in oci:without are application/spdx+json, application/vnd.in-toto+json'
echo 'inspect: verdicts, formats, exit codes'
