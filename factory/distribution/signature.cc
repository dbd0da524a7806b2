#include "factory/distribution/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/distribution/base64.h"

namespace kiln {
namespace {

constexpr const char* kClaimType = "application/vnd.dev.cosign.simplesigning.v1+json";
constexpr const char* kSignature = "dev.cosignproject.cosign/signature";

bool is_ours(const Descriptor& layer, const std::string& claim, const SigningKey& key) {
  auto found = layer.annotations.find(kSignature);
  if (layer.digest != Digest::of(claim) || found == layer.annotations.end()) return false;
  const auto signature = from_base64(found->second);
  return signature && key.verifies(claim, *signature);
}

Manifest read(const std::string& now) {
  try {
    return manifest_from_json(JsonDocument::parse(now, "the signatures").root());
  } catch (const Error& error) {
    throw Error(ExitCode::network,
                "what stands under the tag of the signatures is no manifest: " + error.message());
  }
}

// A configuration as of an image: its layers, which are not compressed.
std::string configuration(const std::vector<Descriptor>& layers) {
  Json ids = Json::array();
  for (const Descriptor& layer : layers) ids.push_back(layer.digest.text());
  return Json{{"architecture", ""},
              {"os", ""},
              {"config", Json::object()},
              {"rootfs", {{"type", "layers"}, {"diff_ids", ids}}}}
      .dump();
}

}  // namespace

std::string signatures_tag(const Digest& image) { return "sha256-" + image.hex() + ".sig"; }

std::string signed_claim(const std::string& reference, const Digest& image) {
  return Json{{"critical",
               {{"identity", {{"docker-reference", reference}}},
                {"image", {{"docker-manifest-digest", image.text()}}},
                {"type", "cosign container image signature"}}},
              {"optional", {{"creator", "kiln"}}}}
      .dump();
}

bool has_no_claim_but(const std::string& manifest, const std::string& claim) {
  try {
    const Manifest signatures = manifest_from_json(JsonDocument::parse(manifest, "the signatures").root());
    return !signatures.layers.empty() && std::ranges::all_of(signatures.layers, [&](const Descriptor& layer) {
      return layer.digest == Digest::of(claim);
    });
  } catch (const Error&) {
    return false;  // others have written it
  }
}

std::optional<SignatureManifest> with_signature(const std::string& now, const std::string& claim,
                                                const SigningKey& key) {
  Manifest manifest;
  if (!now.empty()) manifest = read(now);
  if (std::ranges::any_of(manifest.layers,
                          [&](const Descriptor& layer) { return is_ours(layer, claim, key); }))
    return std::nullopt;
  manifest.layers.push_back(
      {kClaimType, Digest::of(claim), claim.size(), {{kSignature, base64_of(key.sign(claim))}}});
  const std::string config = configuration(manifest.layers);
  manifest.config = {std::string(media_type::kConfig), Digest::of(config), config.size(), {}};
  return SignatureManifest{{claim, config}, to_json(manifest).dump()};
}

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
