// An image index over platforms (image-spec, image-index.md): one name for an image on each.
#pragma once

#include <optional>
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

// The parts of an image index, of all platforms; empty for bytes that are no image index.
std::vector<Digest> parts_of_index(const std::string& bytes);

// The list of an image's referrers under a tag, for registries without an API for them (distribution-spec,
// "Referrers Tag Schema"): an image index that its clients keep.

// The index `now` ("": there is none yet) with these as well: what it has stays, in its order. nullopt: it
// has them all. Throws Error(network) if the tag names no image index.
std::optional<std::string> with_referrers(const std::string& now, const std::vector<Descriptor>& referrers);

// The index `now` without these; nullopt: nothing is left of it. Bytes that are no image index stay as they
// are.
std::optional<std::string> without_referrers(const std::string& now, const std::vector<Digest>& referrers);

}  // namespace kiln
