# shellcheck shell=bash disable=SC2034,SC2154 # for and from the scripts that source this
# The judge of signatures, Debian 13's skopeo (ci/skopeo), with a policy as a site has it. Sourced after script.sh; the registry,
# its certificate and who may read are taken from the environment, as secure_registry.sh leaves it.
#   demand_signature HOST PUBLIC_KEY    from HOST only what this key has signed, whatever its tag; from elsewhere nothing
#   copies HOST/REF [OPTION…]           the judge copies it, into the folder $judged; REF is NAME:TAG or NAME@DIGEST
#   refuses HOST/REF WORDS [OPTION…]    it copies nothing, and says WORDS; $unsigned and $foreign are what it says of those
#   judge ARGS…                         skopeo by that policy
status=0
"$KILN_SOURCE/ci/skopeo" install >"$work/judge.log" 2>&1 || status=$?
case $status in
  0) ;;
  5 | 6)
    cat "$work/judge.log"
    echo "SKIPPED: no skopeo here that checks sigstore signatures: $(tail -n 1 "$work/judge.log")"
    exit 77
    ;;
  *)
    cat "$work/judge.log"
    fail 'ci/skopeo install'
    ;;
esac
mkdir -p "$work/judge/registries.d"
judged=$work/judge/image
unsigned='A signature was required, but no signature exists'
foreign='cryptographic signature verification failed'

# The name that was signed must be of the same repository: an image has several tags, and is asked for by digest, too.
demand_signature() {
  cat >"$work/judge/policy.json" <<JSON
{"default": [{"type": "reject"}],
 "transports": {"oci": {"": [{"type": "insecureAcceptAnything"}]},
                "docker": {"$1": [{"type": "sigstoreSigned", "keyPath": "$(realpath "$2")", "signedIdentity": {"type": "matchRepository"}}]}}}
JSON
  cat >"$work/judge/registries.d/site.yaml" <<YAML
docker:
  $1: {use-sigstore-attachments: true}
YAML
}
judge() { "$KILN_SOURCE/ci/skopeo" run --policy "$work/judge/policy.json" --registries.d "$work/judge/registries.d" "$@"; }

copies() {
  local reference=$1
  shift
  rm -rf "$judged"
  # A folder of skopeo's own kind keeps the bytes of the manifest, and the signatures.
  expect 0 judge copy --quiet --preserve-digests "$@" "docker://$reference" "dir:$judged"
  [ -e "$judged/manifest.json" ] || fail "the judge has copied nothing of $reference"
}
refuses() {
  local reference=$1 words=$2
  shift 2
  rm -rf "$judged"
  expect 1 judge copy --quiet --preserve-digests "$@" "docker://$reference" "dir:$judged"
  holds "$err" "$words"
  [ ! -e "$judged/manifest.json" ] || fail "the judge has refused $reference and copied it"
}
