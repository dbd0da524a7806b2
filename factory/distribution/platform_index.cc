#include "factory/distribution/platform_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/distribution/referrers_index.h"
#include "factory/distribution/registry_answer.h"

namespace kiln {

std::string Platform::text() const {
  return os + "/" + architecture + (variant.empty() ? "" : "/" + variant);
}

Platform platform_of(const ImageConfig& config) { return {config.os, config.architecture, config.variant}; }

std::string platform_index(std::vector<PlatformImage> images) {
  std::sort(images.begin(), images.end(),
            [](const PlatformImage& a, const PlatformImage& b) { return a.platform < b.platform; });
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

}  // namespace kiln
