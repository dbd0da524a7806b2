#include "factory/distribution/signed_envelope.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/distribution/base64.h"

namespace kiln {
namespace {

constexpr std::size_t kMostSignatures = 16;  // each is checked with each key

// The bytes that are signed: PAE(type, body).
std::string pre_authentication_encoding(std::string_view type, std::string_view body) {
  return fmt::format("DSSEv1 {} {} {} {}", type.size(), type, body.size(), body);
}

std::string bytes_in(const JsonNode& node) {
  auto bytes = from_base64(node.string());
  if (!bytes) node.fail("expected base64");
  return *std::move(bytes);
}

}  // namespace

std::string signed_envelope(std::string_view type, std::string_view payload, const SigningKey* key) {
  Json signatures = Json::array();
  if (key != nullptr)
    signatures.push_back(
        {{"keyid", key->id()}, {"sig", base64_of(key->sign(pre_authentication_encoding(type, payload)))}});
  return Json{{"payload", base64_of(payload)}, {"payloadType", type}, {"signatures", signatures}}.dump();
}

// `keyid` is a hint that anybody may write: each signature is tried with each key.
OpenedEnvelope open_envelope(std::string_view text, std::string_view type,
                             const std::vector<VerifyingKey>& trusted) {
  const JsonDocument document = JsonDocument::parse(text, "the envelope");
  const JsonNode root = document.root();
  const JsonNode named = root.at("payloadType");
  if (named.string() != type)
    named.fail(fmt::format("expected a payload of the type {}, found '{}'", type, named.string()));
  OpenedEnvelope opened{bytes_in(root.at("payload")), "", ""};
  const std::string signed_bytes = pre_authentication_encoding(type, opened.payload);
  const std::vector<JsonNode> signatures = root.at("signatures").items();
  if (signatures.size() > kMostSignatures)
    root.at("signatures").fail(fmt::format("more than {} signatures", kMostSignatures));
  for (const JsonNode& signature : signatures) {
    const std::string bytes = bytes_in(signature.at("sig"));
    const auto named_key = signature.find("keyid");
    for (const VerifyingKey& key : trusted) {
      if (opened.signer.empty() && key.verifies(signed_bytes, bytes)) opened.signer = key.id();
      if (named_key && named_key->string() == key.id()) opened.forged = key.id();
    }
  }
  if (!opened.signer.empty()) opened.forged.clear();
  return opened;
}

}  // namespace kiln
