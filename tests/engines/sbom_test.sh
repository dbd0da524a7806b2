#!/usr/bin/env bash
# Documents that go with images, on real builds: bills of materials and provenance are OCI referrers in the layout, the real
# skopeo still reads the image, the index knows them, a rebuild gives the same bytes.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"

cp -r "$tiny" tiny
matrix=tiny/tiny.json
# A Python package and a dpkg database in a layer of their own.
cat >>tiny/recipes/library/fast/distro.sh <<'SH'
mkdir -p /opt/site-packages/fast-1.5.dist-info /var/lib/dpkg
printf 'Metadata-Version: 2.1\nName: fast\nVersion: 1.5\nLicense: MIT\n' >/opt/site-packages/fast-1.5.dist-info/METADATA
printf 'Package: libfast1\nStatus: install ok installed\nVersion: 1.5-2\nArchitecture: amd64\n' >/var/lib/dpkg/status
SH
echo '{"builder": "https://ci.example.org/kiln"}' >site.json

expect 0 "$KILN" build -f "$matrix" version=2.10 library=fast compiler=none
expect 0 "$KILN" publish -f "$matrix" version=2.10 library=fast compiler=none
name=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["name"])')

# 1. The index lists them; each is printed, and nothing else.
expect 0 "$KILN" index show "$name"
equals "$(json '[a["kind"] for a in it["attachments"]]')" "['spdx', 'cyclonedx', 'provenance', 'evidence', 'sif']"
layout=.kiln/$(json 'it["layout"]')
manifest=$(json 'it["manifest"]')
expect 0 "$KILN" inspect "$name" --sbom spdx
cp .out spdx.json
equals "$(json 'it["spdxVersion"]')" SPDX-2.3
equals "$(json 'sorted(p["name"] for p in it["packages"] if p["versionInfo"].startswith("1.5"))[-2:]')" "['fast', 'libfast1']"
expect 0 "$KILN" inspect "$name" --sbom cyclonedx
cp .out cyclonedx.json
equals "$(json '[c["licenses"] for c in it["components"] if c["purl"] == "pkg:pypi/fast@1.5"][0]')" "[{'expression': 'MIT'}]"
expect 0 "$KILN" inspect "$name" --provenance
cp .out provenance.json
equals "$(json '"sha256:" + it["subject"][0]["digest"]["sha256"]')" "$manifest"
equals "$(json 'it["predicate"]["runDetails"]["builder"]["id"]')" https://ci.example.org/kiln
digest=$(sha256sum tiny/recipes/library/fast/distro.sh | cut -d' ' -f1)
equals "$(json '[d["name"] for d in it["predicate"]["buildDefinition"]["resolvedDependencies"] if d.get("digest", {}).get("sha256") == "'"$digest"'"]')" \
  "['recipes/library/fast/distro.sh']"

# 2. The layout: one tagged image, and four artifacts that name it as their subject.
tag=${name#*:}
"$KILN_PYTHON" - "$layout" "$manifest" <<'PY'
import hashlib, json, sys
layout, image = sys.argv[1:]
blob = lambda digest: open(f"{layout}/blobs/sha256/{digest.split(':')[1]}", "rb").read()
index = json.load(open(f"{layout}/index.json"))["manifests"]
assert index[0]["digest"] == image and [("annotations" in m and "org.opencontainers.image.ref.name" in m["annotations"]) for m in index] == [True] + [False] * 4
for entry in index[1:]:
    data = blob(entry["digest"])
    assert hashlib.sha256(data).hexdigest() == entry["digest"].split(":")[1] and len(data) == entry["size"]
    artifact = json.loads(data)
    assert artifact["subject"]["digest"] == image and artifact["artifactType"] == entry["artifactType"]
    assert blob(artifact["config"]["digest"]) == b"{}"
    json.loads(blob(artifact["layers"][0]["digest"]))
PY
expect 0 skopeo inspect "oci:$layout:$tag"
equals "$(json 'it["Digest"]')" "$manifest"
expect 0 skopeo copy --quiet "oci:$layout:$tag" oci:copied:again
expect 0 "$KILN" inspect "oci:$layout" --format json
equals "$(json 'it["digest"]')" "$manifest"

# 3. Any image: read on the spot, with the same packages.
expect 0 "$KILN" inspect oci:copied --sbom spdx
equals "$(json 'sorted(p["name"] for p in it["packages"])[:2]')" "['fast', 'libfast1']"
expect 2 "$KILN" inspect "$name" --sbom syft
expect 2 "$KILN" inspect "$name" --sbom spdx --provenance
expect 4 "$KILN" inspect oci:copied --provenance
equals "$out" ''

# 4. The same recipes give the same bytes.
mv .kiln first
expect 0 "$KILN" build -f "$matrix" version=2.10 library=fast compiler=none
for kind in spdx cyclonedx; do
  expect 0 "$KILN" inspect "$name" --sbom $kind
  cmp .out $kind.json
done
expect 0 "$KILN" inspect "$name" --provenance
cmp .out provenance.json
echo 'sbom: attached, readable, reproducible'
