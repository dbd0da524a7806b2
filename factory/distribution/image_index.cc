#include "factory/distribution/image_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/distribution/registry_answer.h"

namespace kiln {

// What the registry has: null for what is no JSON, or too deep to be written again.
static Json manifest_or_null(const std::string& bytes) {
  try {
    return JsonDocument::parse(bytes, "manifest", {.bytes = 64u << 20, .members = 10'000'000}).value();
  } catch (const Error&) {
    return nullptr;
  }
}

std::string Platform::text() const {
  return os + "/" + architecture + (variant.empty() ? "" : "/" + variant);
}

Platform platform_of(const ImageConfig& config) { return {config.os, config.architecture, config.variant}; }

std::string platform_index(std::vector<PlatformImage> images) {
  std::ranges::sort(images, {}, &PlatformImage::platform);
  Json manifests = Json::array();
  for (const PlatformImage& image : images) {
    Json platform = {{"os", image.platform.os}, {"architecture", image.platform.architecture}};
    if (!image.platform.variant.empty()) platform["variant"] = image.platform.variant;
    Json descriptor = to_json(image.manifest);
    descriptor["platform"] = std::move(platform);
    manifests.push_back(std::move(descriptor));
  }
  return Json{{"schemaVersion", 2},
              {"mediaType", std::string(media_type::kImageIndex)},
              {"manifests", std::move(manifests)}}
      .dump();
}

std::vector<Digest> parts_of_index(const std::string& bytes) {
  std::vector<Digest> parts;
  const Json index = manifest_or_null(bytes);
  if (!index.is_object() || !index.contains("manifests") || !index["manifests"].is_array()) return parts;
  for (const Json& part : index["manifests"]) {
    if (!part.is_object() || !part.contains("digest") || !part["digest"].is_string()) continue;
    if (auto digest = digest_in(part["digest"].get<std::string>())) parts.push_back(*digest);
  }
  return parts;
}

std::optional<std::string> with_referrers(const std::string& now, const std::vector<Descriptor>& referrers) {
  Json index = {{"schemaVersion", 2},
                {"mediaType", std::string(media_type::kImageIndex)},
                {"manifests", Json::array()}};
  if (!now.empty()) {
    index = manifest_or_null(now);
    if (!index.is_object() || !index.contains("manifests") || !index["manifests"].is_array())
      throw Error(ExitCode::network, "the tag of the referrers names something other than an image index");
  }
  bool changed = now.empty();
  Json& manifests = index["manifests"];
  for (const Descriptor& referrer : referrers) {
    bool there = false;
    for (const Json& known : manifests)
      there = there || (known.is_object() && known.contains("digest") &&
                        known["digest"] == Json(referrer.digest.text()));
    if (there) continue;
    manifests.push_back(to_json(referrer));
    changed = true;
  }
  return changed ? std::optional(index.dump()) : std::nullopt;
}

std::optional<std::string> without_referrers(const std::string& now, const std::vector<Digest>& referrers) {
  Json index = manifest_or_null(now);
  if (!index.is_object() || !index.contains("manifests") || !index["manifests"].is_array()) return now;
  Json& manifests = index["manifests"];
  const std::size_t before = manifests.size();
  for (const Digest& referrer : referrers)
    for (auto known = manifests.begin(); known != manifests.end();) {
      const bool is_this =
          known->is_object() && known->contains("digest") && (*known)["digest"] == Json(referrer.text());
      known = is_this ? manifests.erase(known) : known + 1;
    }
  if (manifests.size() == before) return now;
  return manifests.empty() ? std::nullopt : std::optional(index.dump());
}

}  // namespace kiln
