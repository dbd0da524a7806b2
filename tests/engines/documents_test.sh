#!/usr/bin/env bash
# The documents of an image are judged by the programs of who defines them: SPDX, CycloneDX, in-toto and SLSA. Each judge is
# shown broken documents too, and must refuse them.
# shellcheck source=tests/support/script.sh
. "$KILN_SOURCE/tests/support/script.sh"
python=$KILN_SOURCE/.cache/validators/bin/python3
if ! [ -x "$python" ]; then
  echo 'skipped: ci/setup --validators was not run'
  exit 77
fi

judge() { expect "$1" "$python" "$KILN_SOURCE/tests/engines/documents.py" "$2" "$3"; }

# broken KIND FILE NAME CHANGE: the document with a change, a Python statement about `it`, is refused.
broken() {
  "$KILN_PYTHON" -c "import json, sys; it = json.load(open(sys.argv[1])); $4; json.dump(it, open(sys.argv[2], 'w'))" "$2" "broken-$3.$1.json"
  judge 1 "$1" "broken-$3.$1.json"
  if [ -z "$out" ] || [ -n "$err" ]; then fail "the judge of $1 did not say what is wrong: $err"; fi
}

# 1. What kiln attaches to an image that it has built.
expect 0 "$KILN" build -f "$tiny/tiny.json" version=2.10 library=fast compiler=none
expect 0 "$KILN" publish -f "$tiny/tiny.json" version=2.10 library=fast compiler=none
name=$("$KILN" index list --format json | "$KILN_PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[0]["name"])')
for kind in spdx cyclonedx; do
  "$KILN" inspect "$name" --sbom $kind >built.$kind.json
  judge 0 $kind built.$kind.json
done
"$KILN" inspect "$name" --provenance >built.provenance.json
judge 0 provenance built.provenance.json

# 2. A bill of hundreds of packages with all their licences: this machine's.
{
  find /usr/share/doc -maxdepth 2 -name copyright -type f
  find /usr/lib/python3 -name METADATA
  echo /var/lib/dpkg/status
} >files
tar -cf layer.tar -T files 2>/dev/null
umoci init --layout host
umoci new --image host:machine
umoci raw add-layer --image host:machine layer.tar
for kind in spdx cyclonedx; do
  "$KILN" inspect oci:host:machine --sbom $kind >machine.$kind.json
  judge 0 $kind machine.$kind.json
done
out=$(cat machine.spdx.json)
[ "$(json 'len(it["packages"])')" -gt 100 ] || fail 'the bill of this machine has hardly any packages'

# 3. The judges can refuse.
broken spdx machine.spdx.json licence 'it["packages"][1]["licenseConcluded"] = "NO-SUCH-LICENCE"'
broken spdx machine.spdx.json relation 'it["relationships"][0]["relatedSpdxElement"] = "SPDXRef-nowhere"'
broken spdx machine.spdx.json field 'del it["creationInfo"]["created"]'
broken cyclonedx machine.cyclonedx.json property 'it["components"][0]["colour"] = "red"'
broken cyclonedx machine.cyclonedx.json type 'it["components"][0]["type"] = "package"'
broken cyclonedx machine.cyclonedx.json serial 'it["serialNumber"] = "1"'
broken provenance built.provenance.json digest 'it["subject"][0]["digest"]["sha256"] = "00"'
broken provenance built.provenance.json subject 'it["subject"] = []'
broken provenance built.provenance.json builder 'del it["predicate"]["runDetails"]["builder"]["id"]'
broken provenance built.provenance.json field 'it["predicate"]["buildDefinition"]["colour"] = "red"'
broken provenance built.provenance.json time 'it["predicate"]["runDetails"]["metadata"]["startedOn"] = "yesterday"'
broken provenance built.provenance.json type 'it["_type"] = "https://in-toto.io/Statement/v0.1"'
broken provenance built.provenance.json dependency 'it["predicate"]["buildDefinition"]["resolvedDependencies"][0] = {"name": "x"}'
echo 'documents: valid by SPDX, CycloneDX, in-toto and SLSA; broken ones refused'
