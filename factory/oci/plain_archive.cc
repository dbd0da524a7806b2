#include "factory/oci/plain_archive.h"

#include <archive.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "factory/oci/layer_stream.h"
#include "factory/oci/sparse_write.h"

namespace kiln {
namespace {

constexpr std::size_t kArchivePiece = 1u << 20;
constexpr std::array<std::string_view, 4> kMagics = {"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd\x37zXZ", "BZh"};

bool is_compressed(const ReadOnlyFile& file) {
  std::array<char, 5> first{};
  const std::string_view bytes(first.data(), file.read_at(0, first.data(), first.size()));
  return std::any_of(kMagics.begin(), kMagics.end(),
                     [&](std::string_view magic) { return bytes.starts_with(magic); });
}

[[noreturn]] void fail_to_write(const std::string& folder, int problem) {
  throw Error(ExitCode::store,
              fmt::format("cannot unfold an archive in {}: {}", folder, std::strerror(problem)),
              "TMPDIR says where");
}

// Has no name, so that nobody finds it and nothing of it stays.
int open_nameless(const fs::path& folder) {
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = (folder / "kiln.archive-XXXXXX").string();
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

// The plain bytes of a compressed file, by libarchive.
class PlainBytes {
 public:
  explicit PlainBytes(const ReadOnlyFile& file)
      : file_(file), archive_(archive_read_new(), &archive_read_free), buffer_(kArchivePiece, '\0') {
    check(archive_read_support_filter_gzip(archive_.get()));
    check(archive_read_support_filter_zstd(archive_.get()));
    check(archive_read_support_filter_xz(archive_.get()));
    check(archive_read_support_filter_bzip2(archive_.get()));
    check(archive_read_support_format_raw(archive_.get()));  // no format: just what comes out of the filter
    check(archive_read_open_filename(archive_.get(), file.path().c_str(), kArchivePiece));
    archive_entry* entry = nullptr;
    check(archive_read_next_header(archive_.get(), &entry));
  }

  // Empty at the end.
  std::string_view next() {
    const la_ssize_t got = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
    check(got);
    plain_ += static_cast<std::uint64_t>(got);
    const LayerLimits limits;
    const auto compressed =
        static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive_.get(), -1), 1));
    if (plain_ > limits.plain_bytes || (plain_ > limits.ratio_from && plain_ / limits.ratio > compressed))
      file_.fail(fmt::format("unfolds {} bytes to more than {}: a decompression bomb", compressed, plain_));
    return {buffer_.data(), static_cast<std::size_t>(got)};
  }

 private:
  void check(la_ssize_t result) const {
    if (result >= 0) return;
    const char* said = archive_error_string(archive_.get());
    file_.fail(
        fmt::format("a compressed archive that cannot be read: {}", said == nullptr ? "damaged" : said));
  }

  const ReadOnlyFile& file_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::string buffer_;
  std::uint64_t plain_ = 0;
};

}  // namespace

std::unique_ptr<ReadOnlyFile> open_archive(const fs::path& path) {
  auto file = std::make_unique<ReadOnlyFile>(path);
  if (!is_compressed(*file)) return file;
  const fs::path folder = fs::temp_directory_path();
  const int plain = open_nameless(folder);
  if (plain < 0) fail_to_write(folder.string(), errno);
  auto owned = std::make_unique<ReadOnlyFile>(plain, path);
  PlainBytes bytes(*file);
  for (std::string_view piece = bytes.next(); !piece.empty(); piece = bytes.next()) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    if (const int problem = write_sparse(plain, piece); problem != 0) fail_to_write(folder.string(), problem);
  }
  if (const int problem = finish_sparse(plain); problem != 0) fail_to_write(folder.string(), problem);
  owned->look_again();
  return owned;
}

}  // namespace kiln
