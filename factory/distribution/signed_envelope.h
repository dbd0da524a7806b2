// A signed document: DSSE, the "Dead Simple Signing Envelope" of in-toto and sigstore
// (github.com/secure-systems-lab/dsse, envelope.md and protocol.md, v1.0). What is signed is the type
// together with the bytes, so a document of one kind never passes for one of another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/distribution/signing_key.h"

namespace kiln {

// `key` signs it; null: nobody does.
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
