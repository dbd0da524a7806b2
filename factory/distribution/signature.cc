#include "factory/distribution/signature.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/error.h"
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
    return !signatures.layers.empty() &&
           std::all_of(signatures.layers.begin(), signatures.layers.end(),
                       [&](const Descriptor& layer) { return layer.digest == Digest::of(claim); });
  } catch (const Error&) {
    return false;  // others have written it
  }
}

std::optional<SignatureManifest> with_signature(const std::string& now, const std::string& claim,
                                                const SigningKey& key) {
  Manifest manifest;
  if (!now.empty()) manifest = read(now);
  if (std::any_of(manifest.layers.begin(), manifest.layers.end(),
                  [&](const Descriptor& layer) { return is_ours(layer, claim, key); }))
    return std::nullopt;
  manifest.layers.push_back(
      {kClaimType, Digest::of(claim), claim.size(), {{kSignature, base64_of(key.sign(claim))}}});
  const std::string config = configuration(manifest.layers);
  manifest.config = {std::string(media_type::kConfig), Digest::of(config), config.size(), {}};
  return SignatureManifest{{claim, config}, to_json(manifest).dump()};
}

}  // namespace kiln
