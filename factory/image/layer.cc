#include "image/layer.h"

#include "image/layer_compressor.h"

namespace kiln {

LayerRecord write_layer(const ChangedTree& changes, const BlobStore& store, const LayerOptions& options) {
  BlobStore::Writer blob = store.writer();
  auto compressor = make_compressor(options.compression, options.zstd_level, options.threads, blob);
  Hasher hasher;
  write_tar(changes, options.epoch, [&](std::string_view bytes) {
    hasher.update(bytes);
    compressor->write(bytes);
  });
  compressor->finish();
  LayerRecord record;
  record.blob = blob.commit(std::string(layer_media_type(options.compression)));
  record.diff_id = hasher.finish();
  return record;
}

}  // namespace kiln
