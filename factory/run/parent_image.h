// The image below the applications of a derived image.
#pragma once

#include <optional>

#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"
#include "factory/state/record_store.h"

namespace kiln {

// The packaged image with this key; of several, the one with the components and the target of `derived`,
// which is upon it. nullopt: none is packaged. Throws Error(input) for a damaged record.
std::optional<ImageRecord> packaged_parent(const ImageSpec& derived, const std::string& parent_key,
                                           const RecordReader& reader);

// `derived` with labels that name its parent as OCI's annotations do: org.opencontainers.image.base.name and
// .base.digest. Unchanged where it has no parent, or none is packaged.
ImageSpec with_parent_labels(const ImageSpec& derived, const RecordReader& reader);

}  // namespace kiln
