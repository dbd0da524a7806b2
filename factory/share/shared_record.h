// What builders tell each other of a step or test that is done: its record, and who made it, in an envelope
// that says who vouches for it. Pure.
//
// The record names its key and, of each layer, digest, size and DiffID. So a signature binds them to the key:
// what was signed for one step is no other's, and layers in other places or of other bytes are none of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "factory/distribution/signed_envelope.h"
#include "factory/state/record_types.h"

namespace kiln {

// A step or a test, as those name it who share it.
struct SharedName {
  std::string key;
  bool is_test = false;
  std::string text() const { return (is_test ? "test-" : "step-") + key; }  // also an OCI tag
};

struct SharedRecord {
  std::variant<StepRecord, TestRecord> record;  // without an origin
  std::string host;                             // that made it
  std::string made;                             // RFC 3339
};

std::string_view payload_type(const SharedName& name);

// `key`: signs it; null: it is not signed.
std::string shared_envelope(const SharedName& name, const SharedRecord& shared, const SigningKey* key);

struct OpenedRecord {
  SharedRecord shared;
  std::string signer;    // "": no trusted key
  std::string forged{};  // as OpenedEnvelope has it
};

// Throws Error(input): it is no envelope, or not of this step or test.
OpenedRecord open_shared(const SharedName& name, std::string_view envelope,
                         const std::vector<VerifyingKey>& trusted);

// Every record that is read has at most this many bytes.
inline constexpr std::uint64_t kMostEnvelope = 4u << 20;

// `step-<key>` or `test-<key>` again; nullopt: it is neither.
std::optional<SharedName> shared_name(std::string_view text);

// The DiffIDs of the layers that the step itself made.
std::vector<Digest> own_layers(const LayerChain& chain, std::string_view key);

}  // namespace kiln
