#include "distribution/platform_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

}  // namespace kiln
