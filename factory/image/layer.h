// A layer: the changed tree of a container → a tar of OCI's layer form (image-spec layer.md),
// zstd-compressed, in the blob store. The same tree gives the same bytes: entries sorted, times clamped to
// the epoch, droppings of package managers left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "image/records.h"
#include "registry/blob_store.h"

namespace kiln {

struct LayerOptions {
  std::int64_t epoch = 0;  // no entry is newer (seconds, UTC)
  int zstd_level = 3;
  int threads = 0;  // 0 = all processors; the bytes do not depend on it
};

// True for paths (relative, no leading "/") that never belong in a layer: run/*, tmp/*, apt's archives and
// lists, logs, caches.
bool is_dropping(std::string_view path);

// `changes` in overlayfs' form (see Container::changes). Whiteouts become .wh. entries, opaque folders
// .wh..wh..opq.
LayerRecord write_layer(const std::filesystem::path& changes, const BlobStore& store,
                        const LayerOptions& options);

}  // namespace kiln
