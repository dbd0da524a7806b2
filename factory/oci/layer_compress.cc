#include "factory/oci/layer_compress.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <thread>

namespace kiln {
namespace {

// A zstd frame, written as it comes.
class ZstdCompressor final : public LayerCompressor {
 public:
  ZstdCompressor(int level, int threads, BlobStore::Writer& out)
      : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx), buffer_(ZSTD_CStreamOutSize(), '\0'), out_(out) {
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1));
    // At least one worker: the job splitting of the threaded form gives the same bytes for any number of
    // them.
    int workers = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_nbWorkers, std::clamp(workers, 1, 64)));
  }

  void write(std::string_view bytes) override { push(bytes, ZSTD_e_continue); }
  void finish() override { push({}, ZSTD_e_end); }

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

// libarchive's gzip filter over one entry without a format of its own.
class GzipCompressor final : public LayerCompressor {
 public:
  explicit GzipCompressor(BlobStore::Writer& out)
      : archive_(::archive_write_new(), &::archive_write_free),
        entry_(::archive_entry_new(), &::archive_entry_free),
        out_(out) {
    check(::archive_write_set_format_raw(archive_.get()));
    check(::archive_write_add_filter_gzip(archive_.get()));
    check(::archive_write_set_filter_option(archive_.get(), "gzip", "compression-level", "6"));
    check(::archive_write_set_filter_option(archive_.get(), "gzip", "timestamp", nullptr));
    check(::archive_write_set_bytes_in_last_block(archive_.get(), 1));  // no padding
    check(::archive_write_open(archive_.get(), &out_, nullptr, &take, nullptr));
    ::archive_entry_set_filetype(entry_.get(), AE_IFREG);
    check(::archive_write_header(archive_.get(), entry_.get()));
  }

  void write(std::string_view bytes) override {
    if (::archive_write_data(archive_.get(), bytes.data(), bytes.size()) < 0) check(ARCHIVE_FATAL);
  }
  void finish() override { check(::archive_write_close(archive_.get())); }

 private:
  static la_ssize_t take(struct archive* archive, void* out, const void* bytes, std::size_t size) {
    try {
      static_cast<BlobStore::Writer*>(out)->write(bytes, size);
    } catch (const Error& error) {  // not through C
      ::archive_set_error(archive, EIO, "%s", error.message().c_str());
      return -1;
    }
    return static_cast<la_ssize_t>(size);
  }

  void check(int status) {
    if (status == ARCHIVE_OK) return;
    const char* what = ::archive_error_string(archive_.get());
    throw Error(ExitCode::store, fmt::format("gzip: {}", what == nullptr ? "out of memory" : what));
  }

  std::unique_ptr<struct archive, decltype(&::archive_write_free)> archive_;
  std::unique_ptr<archive_entry, decltype(&::archive_entry_free)> entry_;
  BlobStore::Writer& out_;
};

}  // namespace

std::unique_ptr<LayerCompressor> make_compressor(LayerCompression compression, int level, int threads,
                                                 BlobStore::Writer& out) {
  if (compression == LayerCompression::gzip) return std::make_unique<GzipCompressor>(out);
  return std::make_unique<ZstdCompressor>(level, threads, out);
}

std::string_view layer_media_type(LayerCompression compression) {
  return compression == LayerCompression::gzip ? media_type::kLayerGzip : media_type::kLayerZstd;
}

}  // namespace kiln
