// Changed tree → tar. The only file that knows libarchive.
#include "factory/oci/layer_write.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "factory/base/error.h"
#include "factory/base/file_handle.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int kBlock = 1 << 20;  // bytes handed to the sink at a time

class TarWriter {
 public:
  TarWriter(std::int64_t epoch, const std::function<void(std::string_view)>& sink)
      : archive_(archive_write_new()), entry_(archive_entry_new()), epoch_(epoch), sink_(sink) {
    // ustar headers, and PAX records only for what does not fit them (long names, large ids and sizes,
    // xattrs): what every reader of layers knows, and nothing that two versions of libarchive would say in
    // two ways.
    check(archive_write_set_format_pax_restricted(archive_.get()));
    // Names are bytes: without this the headers would depend on the locale. Extended attributes as
    // SCHILY.xattr.NAME, which Go's archive/tar and with it every engine reads; libarchive's own
    // LIBARCHIVE.xattr beside it would say them twice.
    check(archive_write_set_options(archive_.get(), "hdrcharset=BINARY,xattrheader=SCHILY"));
    check(archive_write_set_bytes_per_block(archive_.get(), kBlock));
    check(archive_write_set_bytes_in_last_block(archive_.get(), 1));  // no zeros up to a whole kBlock
    check(archive_write_open(archive_.get(), this, nullptr, &TarWriter::take, nullptr));
  }

  void add(const fs::path& root, const TreeEntry& entry) {
    start(entry);
    if (entry.kind == TreeEntry::Kind::whiteout || entry.kind == TreeEntry::Kind::opaque) {
      set_mark(entry);
      check(archive_write_header(archive_.get(), entry_.get()));
      return;
    }
    set_status(entry);
    check(archive_write_header(archive_.get(), entry_.get()));
    if (entry.kind == TreeEntry::Kind::plain && S_ISREG(entry.status.st_mode) && entry.status.st_size > 0)
      copy(root / entry.path, entry.status.st_size);
  }

  void finish() { check(archive_write_close(archive_.get())); }

 private:
  // Nothing but what is set here and below gets into a header: no names of users and groups, which are the
  // build host's, and neither atime nor ctime, which differ from run to run.
  void start(const TreeEntry& entry) {
    archive_entry_clear(entry_.get());
    archive_entry_set_mtime(entry_.get(), epoch_, 0);
    archive_entry_set_pathname(entry_.get(), entry.path.c_str());
  }

  // image-spec layer.md, "Whiteouts": an empty file .wh.NAME beside what goes, .wh..wh..opq in what is
  // emptied.
  void set_mark(const TreeEntry& entry) {
    fs::path path(entry.path);
    fs::path mark = entry.kind == TreeEntry::Kind::opaque
                        ? path / ".wh..wh..opq"
                        : path.parent_path() / (".wh." + path.filename().string());
    archive_entry_set_pathname(entry_.get(), mark.c_str());
    archive_entry_set_filetype(entry_.get(), AE_IFREG);
    archive_entry_set_perm(entry_.get(), 0644);
    archive_entry_set_size(entry_.get(), 0);
  }

  void set_status(const TreeEntry& entry) {
    const struct stat& status = entry.status;
    archive_entry_set_mode(entry_.get(), status.st_mode);
    archive_entry_set_uid(entry_.get(), status.st_uid);
    archive_entry_set_gid(entry_.get(), status.st_gid);
    archive_entry_set_mtime(entry_.get(), std::min<std::int64_t>(status.st_mtime, epoch_), 0);
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
      archive_entry_set_rdev(entry_.get(), status.st_rdev);
    if (entry.kind == TreeEntry::Kind::hard_link) {
      archive_entry_set_hardlink(entry_.get(), entry.target.c_str());
      archive_entry_set_size(entry_.get(), 0);
      return;
    }
    if (S_ISREG(status.st_mode)) archive_entry_set_size(entry_.get(), status.st_size);
    if (S_ISLNK(status.st_mode)) archive_entry_set_symlink(entry_.get(), entry.target.c_str());
    for (const auto& [name, value] : entry.xattrs)
      archive_entry_xattr_add_entry(entry_.get(), name.c_str(), value.data(), value.size());
  }

  // The header has promised `size` bytes. Programs of the build may still run on the tree: one that puts a
  // link in the file's place must not get a file of the host into the layer.
  void copy(const fs::path& file, std::int64_t size) {
    const FileHandle fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0)
      throw Error(ExitCode::store, fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
    while (size > 0) {
      ssize_t got =
          ::read(fd, buffer_.data(), std::min<std::size_t>(buffer_.size(), static_cast<std::size_t>(size)));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Error(ExitCode::store, fmt::format("{} changed while it was read", file.string()));
      if (archive_write_data(archive_.get(), buffer_.data(), static_cast<std::size_t>(got)) != got)
        check(ARCHIVE_FATAL);
      size -= got;
    }
  }

  // libarchive is C: what the sink throws waits here until its call has returned.
  static la_ssize_t take(archive*, void* self, const void* bytes, std::size_t size) {
    auto& writer = *static_cast<TarWriter*>(self);
    try {
      if (!writer.thrown_) writer.sink_({static_cast<const char*>(bytes), size});
      return static_cast<la_ssize_t>(size);
    } catch (...) {
      writer.thrown_ = std::current_exception();
      return -1;
    }
  }

  void check(int result) {
    if (thrown_) std::rethrow_exception(thrown_);
    // A warning is a name or attribute that does not fit the format: the layer would not be the tree.
    if (result == ARCHIVE_OK) return;
    const char* path = archive_entry_pathname(entry_.get());
    throw Error(ExitCode::store, fmt::format("cannot write /{} to the layer: {}", path != nullptr ? path : "",
                                             archive_error_string(archive_.get())));
  }

  struct Free {
    void operator()(archive* a) const { archive_write_free(a); }
    void operator()(archive_entry* e) const { archive_entry_free(e); }
  };
  std::exception_ptr thrown_;  // before archive_: freeing it may call take()
  std::unique_ptr<archive, Free> archive_;
  std::unique_ptr<archive_entry, Free> entry_;
  std::int64_t epoch_;
  const std::function<void(std::string_view)>& sink_;
  std::string buffer_ = std::string(kBlock, '\0');
};

}  // namespace

void write_tar(const ChangedTree& changes, std::int64_t epoch,
               const std::function<void(std::string_view)>& sink) {
  TarWriter tar(epoch, sink);
  walk_changes(changes, [&](const TreeEntry& entry) { tar.add(changes.folder, entry); });
  tar.finish();
}

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

static std::string_view layer_media_type(LayerCompression compression) {
  return compression == LayerCompression::gzip ? media_type::kLayerGzip : media_type::kLayerZstd;
}

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

Digest diff_id_of(const std::filesystem::path& layer) {
  std::unique_ptr<archive, int (*)(archive*)> in(archive_read_new(), &archive_read_free);
  auto check = [&](la_ssize_t result) {
    if (result >= 0) return;
    throw Error(ExitCode::store,
                fmt::format("cannot read {}: {}", layer.string(), archive_error_string(in.get())));
  };
  check(archive_read_support_filter_gzip(in.get()));
  check(archive_read_support_filter_zstd(in.get()));
  check(archive_read_support_format_raw(in.get()));  // no format: just what comes out of the filter
  check(archive_read_open_filename(in.get(), layer.c_str(), 1 << 20));
  archive_entry* entry = nullptr;
  const int begun = archive_read_next_header(in.get(), &entry);
  check(begun);
  Hasher hasher;
  if (begun == ARCHIVE_EOF) return hasher.finish();  // not a single byte
  std::string buffer(1 << 20, '\0');
  while (true) {
    la_ssize_t got = archive_read_data(in.get(), buffer.data(), buffer.size());
    check(got);
    if (got == 0) return hasher.finish();
    hasher.update(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace kiln
