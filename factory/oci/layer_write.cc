#include "factory/oci/layer_write.h"

#include "factory/oci/layer_compress.h"

namespace kiln {

BuiltLayer write_layer(const ChangedTree& changes, const BlobStore& store, const LayerOptions& options) {
  BlobStore::Writer blob = store.writer();
  auto compressor = make_compressor(options.compression, options.zstd_level, options.threads, blob);
  Hasher hasher;
  write_tar(changes, options.epoch, [&](std::string_view bytes) {
    hasher.update(bytes);
    compressor->write(bytes);
  });
  compressor->finish();
  BuiltLayer layer;
  layer.blob = blob.commit(std::string(layer_media_type(options.compression)));
  layer.diff_id = hasher.finish();
  return layer;
}

}  // namespace kiln
