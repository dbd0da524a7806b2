// An image index over platforms (image-spec, image-index.md): one name for what is one image on each.
#pragma once

#include <string>
#include <vector>

#include "factory/oci/documents.h"

namespace kiln {

// As an image's configuration says it.
struct Platform {
  std::string os, architecture, variant;  // variant: "" for none
  bool operator==(const Platform&) const = default;
  auto operator<=>(const Platform&) const = default;
  std::string text() const;  // "linux/arm64/v8"
};
Platform platform_of(const ImageConfig& config);

struct PlatformImage {
  Platform platform;
  Descriptor manifest;
};

// Its bytes: the same for the same images, in whatever order. REQUIRES: no two of one platform.
std::string platform_index(std::vector<PlatformImage> images);

// What an image index is made of, whatever its platforms; nothing of what is none, whoever wrote it.
std::vector<Digest> parts_of_index(const std::string& bytes);

}  // namespace kiln
