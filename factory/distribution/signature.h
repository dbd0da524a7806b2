// sigstore signatures as containers/image and cosign keep them in a registry: a manifest under the tag
// `sha256-<digest>.sig`, of which each layer is a signed claim with its signature as an annotation
// (github.com/containers/image, docs/containers-signature and signature/internal/sigstore_payload.go).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/distribution/signing_key.h"
#include "factory/oci/documents.h"

namespace kiln {

std::string signatures_tag(const Digest& image);  // `sha256-<64 hex>.sig`

// The claim that is signed: that these bits are `reference` ("registry.site/ai/pytorch:2.6-…"). The same for
// the same image, so that nobody signs it twice.
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

// Whether a manifest of signatures has this claim, whoever signed it, and no other.
bool has_no_claim_but(const std::string& manifest, const std::string& claim);

}  // namespace kiln
