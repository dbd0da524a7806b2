#include "image/layer.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

namespace kiln {
namespace {

// A zstd frame, written as it comes.
class Compressor {
 public:
  Compressor(int level, int threads, BlobStore::Writer& out)
      : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx), buffer_(ZSTD_CStreamOutSize(), '\0'), out_(out) {
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1));
    // At least one worker: the job splitting of the threaded form gives the same bytes for any number of
    // them.
    int workers = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_nbWorkers, std::clamp(workers, 1, 64)));
  }

  void write(std::string_view bytes) { push(bytes, ZSTD_e_continue); }
  void finish() { push({}, ZSTD_e_end); }

 private:
  void push(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    bool is_done = false;
    while (!is_done) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      std::size_t left = check(ZSTD_compressStream2(context_.get(), &out, &in, directive));
      out_.write(buffer_.data(), out.pos);
      is_done = directive == ZSTD_e_end ? left == 0 : in.pos == in.size;
    }
  }

  static std::size_t check(std::size_t result) {
    if (ZSTD_isError(result) != 0)
      throw Error(ExitCode::store, fmt::format("zstd: {}", ZSTD_getErrorName(result)));
    return result;
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::string buffer_;
  BlobStore::Writer& out_;
};

}  // namespace

LayerRecord write_layer(const ChangedTree& changes, const BlobStore& store, const LayerOptions& options) {
  BlobStore::Writer blob = store.writer();
  Compressor compressor(options.zstd_level, options.threads, blob);
  Hasher hasher;
  write_tar(changes, options.epoch, [&](std::string_view bytes) {
    hasher.update(bytes);
    compressor.write(bytes);
  });
  compressor.finish();
  LayerRecord record;
  record.blob = blob.commit(std::string(media_type::kLayerZstd));
  record.diff_id = hasher.finish();
  return record;
}

}  // namespace kiln
