// sigstore signatures as containers/image and cosign keep them in a registry: a manifest under the tag
// `sha256-<digest>.sig`, of which each layer is a signed claim with its signature as an annotation
// (github.com/containers/image, docs/containers-signature and signature/internal/sigstore_payload.go).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/distribution/signing_key.h"
#include "factory/oci/documents.h"

namespace kiln {

std::string signatures_tag(const Digest& image);  // `sha256-<64 hex>.sig`

// The claim that is signed: that these bits are `reference` ("registry.site/ai/pytorch:2.6-…"). The same for
// the same image, so that it is not signed twice.
std::string signed_claim(const std::string& reference, const Digest& image);

// What is to be put there: all blobs, and the manifest that names them.
struct SignatureManifest {
  std::vector<std::string> blobs;
  std::string manifest;
};

// The manifest `now` ("": there is none yet) with the claim, signed by `key`, as well: the signatures of
// others stay. nullopt: it has it already, and it is good. Throws Error(network) when what stands there is
// none.
std::optional<SignatureManifest> with_signature(const std::string& now, const std::string& claim,
                                                const SigningKey& key);

// Whether a manifest of signatures has this claim, by whatever key, and no other.
bool has_no_claim_but(const std::string& manifest, const std::string& claim);

// A signed document: DSSE, the "Dead Simple Signing Envelope" of in-toto and sigstore
// (github.com/secure-systems-lab/dsse, envelope.md and protocol.md, v1.0). What is signed is the type
// together with the bytes, so a document of one kind never passes for one of another.

// `key` signs it; null: none does.
std::string signed_envelope(std::string_view type, std::string_view payload, const SigningKey* key);

struct OpenedEnvelope {
  std::string payload;
  std::string signer;  // VerifyingKey::id() of the first trusted key that has signed it; "": none has
  // Where none has: id of a trusted key that a signature names without matching it. The payload, the type or
  // the signature was changed after it was signed, or was never signed with that key. "": no signature does
  // so.
  std::string forged{};
};

// Throws Error(input): it is no envelope, or its payload is of another type.
OpenedEnvelope open_envelope(std::string_view text, std::string_view type,
                             const std::vector<VerifyingKey>& trusted);

}  // namespace kiln
