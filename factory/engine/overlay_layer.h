// One layer as a folder in overlayfs' form (kernel Documentation/filesystems/overlayfs.rst), for engines
// whose containers kiln mounts itself: a whiteout becomes a character device 0:0, an opaque marker an
// attribute.
#pragma once

#include <filesystem>

#include "factory/oci/layer_chain.h"

namespace kiln {

// Unpacks the layer, whose bytes lie in `blob`, into `folder`, which is there and empty; owner and mode of
// its root stay unless the layer has them. Device nodes are left out: a container has a /dev of its own.
// Digest and DiffID are checked on the way. Throws Error(store) for a damaged layer, for what cannot be
// written, and for what is no layer by itself, such as a hard link to a file of another.
void unpack_layer(const BuiltLayer& layer, const std::filesystem::path& blob,
                  const std::filesystem::path& folder);

}  // namespace kiln
