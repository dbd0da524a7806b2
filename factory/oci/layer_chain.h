// What a finished build step leaves of an image: its layers, and the configuration of the base below them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/oci/documents.h"

namespace kiln {

struct BuiltLayer {
  Descriptor blob;         // in the blob store
  Digest diff_id;          // of the uncompressed tar
  std::string step;        // key of the step that made it
  std::string created_by;  // for the image's history
};

// `layers` is the whole chain, the base's first.
struct LayerChain {
  std::vector<BuiltLayer> layers;
  std::optional<ImageConfig> base;  // of a pulled base: its environment and labels are inherited
};

}  // namespace kiln
