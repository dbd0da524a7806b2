// A layer: the changed tree of a container → a tar of OCI's layer form (image-spec layer.md),
// compressed, in the blob store. The same tree gives the same bytes: entries sorted, times clamped to
// the epoch, droppings of package managers left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "factory/base/digest.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/overlay_tree.h"
#include "factory/site/site.h"

namespace kiln {

// The compressed form of a layer, as it streams into the blob store. The same bytes in give the same bytes
// out.
class LayerCompressor {
 public:
  virtual ~LayerCompressor() = default;
  virtual void write(std::string_view bytes) = 0;
  virtual void finish() = 0;  // exactly once, at the end
};

// A zstd frame (RFC 8878) or a gzip file (RFC 1952) without time and name. `level` is zstd's; gzip is written
// at its usual 6. `threads`: 0 = all processors; gzip takes one. `out` outlives the compressor. All throw
// Error(store). REQUIRES: `compression` is not none.
std::unique_ptr<LayerCompressor> make_compressor(LayerCompression compression, int level, int threads,
                                                 BlobStore::Writer& out);

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

// The diff_id of a layer file: the digest of what it holds once decompressed (gzip, zstd or nothing). Throws
// Error(store).
Digest diff_id_of(const std::filesystem::path& layer);

}  // namespace kiln
