// The compressed form of a layer, as it streams into the blob store. The same bytes in give the same bytes
// out.
#pragma once

#include <memory>
#include <string_view>

#include "factory/oci/blob_store.h"
#include "factory/site/site.h"

namespace kiln {

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

std::string_view layer_media_type(LayerCompression compression);

}  // namespace kiln
