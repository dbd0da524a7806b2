// sigstore signatures as containers/image and cosign keep them in a registry: a manifest under the tag
// `sha256-<digest>.sig`, of which each layer is a signed claim with its signature as an annotation
// (github.com/containers/image, docs/containers-signature and signature/internal/sigstore_payload.go).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/oci/documents.h"

namespace kiln {

// The keys that a site signs its images and steps with, and those that it believes: ECDSA on P-256 over
// SHA-256, as cosign and containers/image use for sigstore signatures.

// The key that checks signatures.
class VerifyingKey {
 public:
  // A public key in PEM. Throws Error(input) for an invalid key, and for a key of another kind.
  static VerifyingKey read(const std::filesystem::path& file);

  bool verifies(std::string_view bytes, std::string_view signature) const;
  // 64 hex: SHA-256 of the public key's DER. Says which key it is.
  std::string id() const;

 private:
  friend class SigningKey;
  struct State;
  explicit VerifyingKey(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

class SigningKey {
 public:
  // A private key in PEM (PKCS#8 or SEC 1; encrypted ones need `passphrase`). Throws Error(input) for an
  // invalid key, a key of another kind, and a wrong passphrase. No part of the key is in a message.
  static SigningKey read(const std::filesystem::path& file, const std::string& passphrase = {});
  // The same; the first line of `passphrase_file`, where that is not empty, opens it.
  static SigningKey read_with(const std::filesystem::path& file,
                              const std::filesystem::path& passphrase_file);

  std::string sign(std::string_view bytes) const;  // ASN.1 DER; another one each time
  bool verifies(std::string_view bytes, std::string_view signature) const {
    return public_half_.verifies(bytes, signature);
  }
  std::string id() const { return public_half_.id(); }
  const VerifyingKey& public_half() const { return public_half_; }

 private:
  explicit SigningKey(VerifyingKey pair) : public_half_(std::move(pair)) {}
  VerifyingKey public_half_;  // which has the private one, too
};

std::string signatures_tag(const Digest& image);  // `sha256-<64 hex>.sig`

// The claim that is signed: that these bits are `reference` ("registry.site/ai/pytorch:2.6-…"). The same for
// the same image, so that it is not signed twice.
std::string signed_claim(const std::string& reference, const Digest& image);

// The objects to push: all blobs, and the manifest that names them.
struct SignatureManifest {
  std::vector<std::string> blobs;
  std::string manifest;
};

// The manifest `now` ("": there is none yet) with the claim, signed by `key`, as well: the signatures of
// others stay. nullopt: it has it already, and it is good. Throws Error(network) if the tag names another
// object.
std::optional<SignatureManifest> with_signature(const std::string& now, const std::string& claim,
                                                const SigningKey& key);

// Whether a manifest of signatures has this claim, by whatever key, and no other.
bool has_no_claim_but(const std::string& manifest, const std::string& claim);

// A signed document: DSSE, the "Dead Simple Signing Envelope" of in-toto and sigstore
// (github.com/secure-systems-lab/dsse, envelope.md and protocol.md, v1.0). The signature covers the type
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
