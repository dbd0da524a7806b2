// A layer: the changed tree of a container → a tar of OCI's layer form (image-spec layer.md),
// compressed, in the blob store. The same tree gives the same bytes: entries sorted, times clamped to
// the epoch, droppings of package managers left out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "factory/oci/blob_store.h"
#include "factory/oci/layer_chain.h"
#include "factory/oci/overlay_tree.h"
#include "factory/site/site.h"

namespace kiln {

struct LayerOptions {
  std::int64_t epoch = 0;  // no entry is newer (seconds, UTC)
  LayerCompression compression = LayerCompression::zstd;
  int zstd_level = 3;
  int threads = 0;  // 0 = all processors; the bytes do not depend on it
};

// Whiteouts become .wh. entries, opaque folders .wh..wh..opq. Streams: memory does not grow with the layer.
// `step` and `created_by` of the layer are left to the caller. Throws as walk_changes and BlobStore do.
BuiltLayer write_layer(const ChangedTree& changes, const BlobStore& store, const LayerOptions& options);

// The tar alone, in pieces; what write_layer compresses.
void write_tar(const ChangedTree& changes, std::int64_t epoch,
               const std::function<void(std::string_view)>& sink);

}  // namespace kiln
